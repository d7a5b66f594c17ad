// The command, run with files that are in memory alone.

import { ConsoleStdout, File, OpenFile, PreopenDirectory } from "./wasi/fs_mem.js";
import WASI from "./wasi/wasi.js";

const bytes = (text) => new TextEncoder().encode(text);

// Runs the command of a compiled module: `files` are the texts of its files by name, all in the folder "/". Returns
// the exit status, what it writes, and the texts of the files that are there in the end.
export const run = async (module, args, files = {}) => {
  const written = [[], []];
  const sink = (at) => new ConsoleStdout((data) => written[at].push(data.slice()));
  const folder = new PreopenDirectory(
    "/",
    new Map(Object.entries(files).map(([name, text]) => [name, new File(bytes(text))])),
  );
  const wasi = new WASI(["rtflash", ...args], [], [new OpenFile(new File([])), sink(0), sink(1), folder], { debug: false });
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
  const status = wasi.start(instance);
  const text = (parts) => {
    const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return new TextDecoder().decode(all);
  };
  const left = {};
  for (const [name, file] of folder.dir.contents) if (file instanceof File) left[name] = text([file.data]);
  return { status, stdout: text(written[0]), stderr: text(written[1]), files: left };
};
