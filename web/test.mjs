// What the page does: the command's bytes under Node and in a headless Chromium, the page itself, and its size.
// Needs dist/ (build.mjs) and the command (RTFLASH, or target/release/rtflash).

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Browser } from "../.ci/browser.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const dist = join(here, "dist");
const rtflash = process.env.RTFLASH || join(root, "target", "release", "rtflash");
// Bytes of the module, compressed.
const MOST = 1_000_000;

const sets = Object.fromEntries(
  readdirSync(join(root, "tasksets")).map((name) => [name, readFileSync(join(root, "tasksets", name), "utf8")]),
);
const wrong = {
  "empty.json": "",
  "faults.json": '{"device":"dgist-2021",\n"tasks":[{"name":"a","read":{"pages":0,"period":"3"}},\n{"nam":3}]}',
};
// Of large.json, 512 chips, a shorter run.
const calls = (name) => [
  ["alloc", name, "--format", "json"],
  ["alloc", name, "--analysis", "sound", "--format", "json"],
  ["alloc", name],
  ["check", name, "--allocation", "a.json", "--format", "json"],
  ["explain", name, "--format", "json"],
  ["size", name, "--format", "json"],
  ["exec", name, "--duration", name === "large.json" ? "10ms" : "100ms", "--format", "json"],
  ["exec", name, "--duration", "20ms", "--gantt", "0ms..20ms", "--gantt-out", "g.svg"],
  ["exec", name, "--duration", "20ms", "--report", "r.html"],
];

// Files that calls make.
const MADE = ["g.svg", "r.html"];

// Each call as the command answers it here, and the files that it is given.
const native = () => {
  const folder = join(dist, ".native");
  mkdirSync(folder, { recursive: true });
  const answers = [];
  for (const [name, text] of Object.entries({ ...sets, ...wrong })) {
    writeFileSync(join(folder, name), text);
    const command = (args) => {
      const place = (word) => (/\.(json|svg|html)$/.test(word) ? join(folder, word) : word);
      const ran = spawnSync(rtflash, args.map(place), { encoding: "utf8", maxBuffer: 1 << 28 });
      if (ran.error) throw ran.error;
      return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr.replaceAll(`${folder}/`, "/") };
    };
    const allocation = command(calls(name)[0]).stdout;
    writeFileSync(join(folder, "a.json"), allocation);
    for (const args of calls(name)) {
      for (const made of MADE) rmSync(join(folder, made), { force: true });
      const answer = { ...command(args), made: {} };
      for (const made of MADE.filter((one) => existsSync(join(folder, one)))) {
        answer.made[made] = readFileSync(join(folder, made), "utf8").replaceAll(`${folder}/`, "/");
      }
      answers.push({ args, files: { [name]: text, "a.json": allocation }, answer });
    }
  }
  rmSync(folder, { recursive: true });
  return answers;
};

// The same of a run of the module.
const inside = (args) => args.map((word) => (/\.(json|svg|html)$/.test(word) ? `/${word}` : word));
const compare = (where, { args, answer }, ran) => {
  const what = `${where}: ${args.join(" ")}`;
  assert.equal(ran.status, answer.status, `${what}: exit status; ${ran.stderr}`);
  assert(ran.stdout === answer.stdout, `${what}: standard output`);
  assert.equal(ran.stderr, answer.stderr, `${what}: standard error`);
  for (const made of MADE) assert(ran.files[made] === answer.made[made], `${what}: ${made}`);
};

// A server of dist/, as any static one.
const serve = async () => {
  const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://localhost").pathname));
    try {
      const body = readFileSync(join(dist, path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": types[extname(path)] || (path === "/" ? "text/html" : "text/plain") });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
};

// Waits until an expression holds in the page.
const until = async (browser, expression, what) => {
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    if (await browser.evaluate(expression)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not within a minute: ${what}`);
};

const thePage = async (browser, url) => {
  const page = await browser.open(url);
  const ask = (expression) => browser.evaluate(expression);
  const ready = `!document.querySelector(".stale") && document.querySelector("#gantt svg") !== null`;
  await until(browser, ready, "an answer to the first example");
  assert.match(await ask(`document.querySelector("#verdict").textContent`), /^Theorem 1 \(Kim 2021\)  schedulable/);
  assert.equal(await ask(`document.querySelectorAll("#clusters tr").length`), 4);
  assert((await ask(`document.querySelectorAll("#picture svg rect").length`)) > 8, "the picture of the clusters");
  assert.match(await ask(`document.querySelector("#ran").textContent`), /^(pass|fail): /);

  // A fault is shown at its line, and the caret goes there.
  const type = (text) => ask(`(() => {
    const area = document.querySelector("#text");
    area.value = ${JSON.stringify(text)};
    area.dispatchEvent(new Event("input"));
  })()`);
  const good = sets["drone.json"];
  const line = good.split("\n").findIndex((one) => one.includes('"period"'));
  const bad = good.replace(/"period": "(\d+(?:\.\d+)?)ms"/, '"period": "$1"');
  assert.notEqual(bad, good);
  await type(bad);
  await until(browser, `document.querySelectorAll("#faults li").length === 1`, "the fault");
  const rows = await ask(`document.querySelector("#marks").textContent.split("\\n").map((_, at) => at)
    .filter((at) => document.querySelectorAll("#marks .fault").length > 0
      && document.querySelector("#marks").textContent.split("\\n")[at].includes("a time without a unit"))`);
  assert.deepEqual(rows, [line], "the fault is shown at its line");
  await ask(`document.querySelector("#faults button").click()`);
  const chosen = await ask(`(() => { const area = document.querySelector("#text");
    return [area.value.slice(0, area.selectionStart).split("\\n").length - 1, area.value.slice(area.selectionStart, area.selectionEnd)]; })()`);
  assert.equal(chosen[0], line);
  assert.match(chosen[1], /^"[\d.]+"$/, "what is wrong is selected");

  // What is typed is answered, and can be shared.
  await type(good);
  await ask(`document.querySelector("#analysis").value = "sound"; document.querySelector("#analysis").dispatchEvent(new Event("change"))`);
  await until(browser, `${ready} && document.querySelector("#verdict").textContent.startsWith("Theorem 1 (Kim 2021)  not asked")`, "sound");
  await ask(`document.querySelector("#share").click()`);
  await until(browser, `document.querySelector("#url").value.includes("#1.")`, "a link");
  const link = await ask(`document.querySelector("#url").value`);
  const verdict = await ask(`document.querySelector("#verdict").textContent`);
  await browser.open("about:blank");
  const again = await browser.open(link);
  await until(browser, ready, "an answer to the link");
  assert.equal(await ask(`document.querySelector("#text").value`), good);
  assert.equal(await ask(`document.querySelector("#analysis").value`), "sound");
  assert.equal(await ask(`document.querySelector("#verdict").textContent`), verdict);
  await browser.open("about:blank");
  const broken = await browser.open(`${url}#1.no-such-thing`);
  await until(browser, ready, "an answer in spite of a broken link");

  for (const { messages, requests } of [page, again, broken]) {
    assert.deepEqual(messages, [], "the console");
    const elsewhere = requests.filter((one) => !one.startsWith(url) && !one.startsWith("data:"));
    assert.deepEqual(elsewhere, [], "nothing is asked for from elsewhere");
  }
};

const module = readFileSync(join(dist, "rtflash.wasm"));
const size = gzipSync(module, { level: 9 }).length;
assert(size <= MOST, `${size} bytes with gzip`);
console.log(`rtflash.wasm: ${module.length} bytes, ${size} with gzip`);

const { run } = await import(join(dist, "run.js"));
const compiled = await WebAssembly.compile(module);
const answers = native();
for (const one of answers) compare("node", one, await run(compiled, inside(one.args), one.files));
console.log(`node ${process.version}: ${answers.length} calls answered alike`);

const { server, url } = await serve();
const browser = await Browser.start();
try {
  const page = await browser.open(url);
  for (const one of answers) {
    const ran = await browser.evaluate(`(async () => {
      const { run } = await import("./run.js");
      globalThis.compiled ??= await WebAssembly.compileStreaming(fetch("rtflash.wasm"));
      return run(globalThis.compiled, ${JSON.stringify(inside(one.args))}, ${JSON.stringify(one.files)});
    })()`);
    compare("browser", one, ran);
  }
  assert.deepEqual(page.messages, [], "the console");
  const { product } = await browser.call("Browser.getVersion");
  console.log(`${product}: ${answers.length} calls answered alike`);
  await thePage(browser, url);
  console.log("the page: answers, faults, sharing");
} finally {
  browser.stop();
  server.close();
}
