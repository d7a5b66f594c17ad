import { faults, show } from "./editor.js";
import { picture } from "./picture.js";
import { pack, unpack } from "./share.js";

const EXAMPLES = ["case-study", "motivation", "drone", "dashcam", "overload", "large"];
// Names of tasks in a cell.
const NAMES = 8;
const at = (id) => document.querySelector(`#${id}`);
const [text, example, analysis, algorithm, length] = ["text", "example", "analysis", "algorithm", "length"].map(at);

let module;
let worker;
let last = 0;
const waiting = new Map();

// A worker with nothing to do: what an earlier one still does is of no use.
const fresh = () => {
  if (worker && waiting.size === 0) return;
  if (worker) worker.terminate();
  waiting.clear();
  worker = new Worker("worker.js", { type: "module" });
  worker.addEventListener("message", ({ data: { id, answer, error } }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(answer);
  });
};

const call = (...args) => {
  const id = ++last;
  worker.postMessage({ id, module, args, files: { "set.json": text.value } });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
};

const options = () => {
  const chosen = ["--analysis", analysis.value];
  return algorithm.value ? [...chosen, "--algorithm", algorithm.value] : chosen;
};

const say = (place, tone, words) => {
  place.className = `verdict ${tone}`;
  place.textContent = words;
};
const tone = (status) => ["good", "bad", "bad", "open"][status] || "open";

// Numbers of chips, runs of them joined.
const runs = (chips) => {
  const found = [];
  for (const chip of chips) {
    const run = found.at(-1);
    if (run && run[1] + 1 === chip) run[1] = chip;
    else found.push([chip, chip]);
  }
  return found.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(", ");
};

const table = (answer) => {
  const headings = ["cluster", "chips", "tasks", "U", "read", "write", "GC", "blocking", "server"];
  const row = (cells, kind) => {
    const made = document.createElement("tr");
    cells.forEach((cell, column) => {
      const one = document.createElement(kind);
      one.textContent = cell;
      if (column > 2) one.className = "number";
      made.append(one);
    });
    return made;
  };
  const share = (number) => (number === null || number === undefined ? "-" : number.toFixed(4));
  const names = (tasks) =>
    tasks.length > NAMES ? `${tasks.slice(0, NAMES).join(", ")} and ${tasks.length - NAMES} more` : tasks.join(", ");
  const used = answer.clusters.map((cluster, position) => ({ cluster, position }));
  const rows = used.filter(({ cluster }) => cluster.tasks.length > 0).map(({ cluster, position }) =>
    row(
      [
        position,
        runs(cluster.chips),
        names(cluster.tasks),
        ...[
          cluster.utilization,
          cluster.read_utilization,
          cluster.write_utilization,
          cluster.gc_utilization,
          cluster.blocking,
          cluster.server_utilization,
        ].map(share),
      ],
      "td",
    ),
  );
  const free = answer.clusters.filter((cluster) => cluster.tasks.length === 0).flatMap((cluster) => cluster.chips);
  if (free.length > 0) rows.push(row(["", runs(free), "(free)", "", "", "", "", "", ""], "td"));
  at("clusters").replaceChildren(...(rows.length > 0 ? [row(headings, "th"), ...rows] : []));
};

const chart = (svg) => {
  const read = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  at("gantt").replaceChildren(document.importNode(read, true));
};

const stale = (is) => {
  for (const id of ["picture", "clusters", "gantt", "words", "terms"]) at(id).classList.toggle("stale", is);
};

// Answers for the text as it is now. What is changed meanwhile is answered anew.
let turn = 0;
const answer = async () => {
  const mine = ++turn;
  const current = () => mine === turn;
  fresh();
  stale(true);
  const json = await call("alloc", "/set.json", ...options(), "--format", "json");
  if (!current()) return;
  if (json.status === 2) {
    show(faults(json.stderr));
    const found = faults(json.stderr).length > 0;
    say(at("verdict"), "bad", found ? "This is no task set yet: see the marked lines." : json.stderr.trim());
    say(at("ran"), "open", "");
    return;
  }
  show([]);
  const found = JSON.parse(json.stdout);
  const words = await call("alloc", "/set.json", ...options());
  if (!current()) return;
  say(at("verdict"), tone(json.status), words.stdout.split("\n\n", 1)[0]);
  at("words").textContent = words.stdout;
  // Where it does not pass, the command says what would help.
  if (json.status !== 0) at("words").parentElement.open = true;
  at("picture").replaceChildren(...(found.clusters.length > 0 ? [picture(found)] : []));
  table(found);
  await runIt(current);
  if (current() && at("explain").open) await explain();
  if (current()) stale(false);
};

const runIt = async (current) => {
  const time = length.value;
  const stretch = ["--duration", time, "--gantt", `0ms..${time}`, "--gantt-out", "/run.svg"];
  say(at("ran"), "open", "running …");
  const ran = await call("exec", "/set.json", ...options(), ...stretch);
  if (!current()) return;
  say(at("ran"), tone(ran.status), ran.stdout.split("\n", 1)[0] || ran.stderr.split("\n", 1)[0]);
  if (ran.files["run.svg"]) chart(ran.files["run.svg"]);
  else at("gantt").replaceChildren();
};

const explain = async () => {
  const said = await call("explain", "/set.json", ...options());
  at("terms").textContent = said.stdout || said.stderr;
};

const failed = (error) => say(at("verdict"), "bad", `the command could not be run: ${error.message}`);
const again = () => answer().catch(failed);

let delay;
text.addEventListener("input", () => {
  at("link").hidden = true;
  clearTimeout(delay);
  delay = setTimeout(again, 250);
});
for (const choice of [analysis, algorithm, length]) choice.addEventListener("change", again);
at("explain").addEventListener("toggle", () => {
  if (at("explain").open) explain().catch(failed);
});

const load = async (name) => {
  text.value = await (await fetch(`tasksets/${name}.json`)).text();
  await again();
};
example.addEventListener("change", () => {
  if (example.value) load(example.value).catch(failed);
});

at("share").addEventListener("click", async () => {
  const state = { text: text.value, analysis: analysis.value, algorithm: algorithm.value, length: length.value };
  history.replaceState(null, "", await pack(state));
  at("url").value = location.href;
  at("link").hidden = false;
  at("url").select();
  try {
    await navigator.clipboard.writeText(location.href);
    at("copied").textContent = "copied";
  } catch {
    at("copied").textContent = "";
  }
});

at("report").addEventListener("click", async () => {
  fresh();
  const ran = await call("exec", "/set.json", ...options(), "--duration", length.value, "--report", "/report.html");
  const page = ran.files["report.html"];
  if (!page) {
    say(at("ran"), "bad", ran.stderr.split("\n", 1)[0]);
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  link.download = "rtflash-run.html";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
});

const restore = async () => {
  const state = await unpack(location.hash);
  if (!state || typeof state.text !== "string") return false;
  text.value = state.text;
  for (const [place, value] of [[analysis, state.analysis], [algorithm, state.algorithm], [length, state.length]]) {
    if ([...place.options].some((option) => option.value === value)) place.value = value;
  }
  example.value = "";
  await again();
  return true;
};
addEventListener("hashchange", restore);

example.append(new Option("", ""), ...EXAMPLES.map((name) => new Option(name, name)));
try {
  module = await WebAssembly.compileStreaming(fetch("rtflash.wasm"));
  if (!(await restore())) {
    example.value = EXAMPLES[0];
    await load(EXAMPLES[0]);
  }
} catch (error) {
  failed(error);
}
