// Builds the page into dist/: the command as WebAssembly, made small, beside the page's own files and the WASI shim.
// Needs the Rust target wasm32-wasip1, and what `npm ci` installs.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const dist = join(here, "dist");
const run = (command, args) => execFileSync(command, args, { cwd: root, stdio: "inherit" });

const target = "wasm32-wasip1";
const features = ["--no-default-features", "--features", "command"];
run("cargo", ["build", "--locked", "--profile", "web", "--target", target, ...features, "--bin", "rtflash"]);

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const proposals = ["bulk-memory", "sign-ext", "nontrapping-float-to-int", "mutable-globals", "multivalue", "reference-types"];
const enabled = proposals.map((one) => `--enable-${one}`);
const module = join(process.env.CARGO_TARGET_DIR || join(root, "target"), target, "web", "rtflash.wasm");
const made = join(dist, "rtflash.wasm");
const optimizer = join(here, "node_modules", ".bin", "wasm-opt");
run(optimizer, ["--flatten", "--rereloop", "-Oz", "-Oz", "--converge", "--strip-debug", "--strip-producers", ...enabled, module, "-o", made]);

for (const name of ["index.html", "style.css", "main.js", "run.js", "worker.js", "share.js", "picture.js", "editor.js"]) {
  const text = readFileSync(join(here, name), "utf8");
  // Lines of comments, and what lines begin with, are for whoever reads the sources.
  const short = name.endsWith(".js") ? text.replace(/^\s*\/\/.*\n/gm, "") : text;
  writeFileSync(join(dist, name), name.endsWith(".html") ? short : short.replace(/^[ \t]+/gm, ""));
}
for (const name of ["THIRD-PARTY.md", "LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join(root, name), join(dist, name));
cpSync(join(root, "tasksets"), join(dist, "tasksets"), { recursive: true });
const shim = join(here, "node_modules", "@bjorn3", "browser_wasi_shim");
mkdirSync(join(dist, "wasi"));
// Files in memory alone.
const scripts = ["debug.js", "fd.js", "fs_mem.js", "wasi.js", "wasi_defs.js"];
for (const name of scripts) cpSync(join(shim, "dist", name), join(dist, "wasi", name));
for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join(shim, name), join(dist, "wasi", name));

// What a visitor loads, compressed as servers do.
const files = readdirSync(dist, { recursive: true }).map((name) => join(dist, name));
const texts = files.filter((name) => statSync(name).isFile() && !name.includes("tasksets") && !/LICENSE|THIRD-PARTY/.test(name));
const sizes = texts.map((name) => gzipSync(readFileSync(name), { level: 9 }).length);
console.log(`rtflash.wasm: ${statSync(made).size} bytes, ${gzipSync(readFileSync(made), { level: 9 }).length} with gzip`);
console.log(`the page: ${sizes.reduce((sum, size) => sum + size, 0)} bytes with gzip`);
