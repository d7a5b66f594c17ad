// A task set as text, with what is wrong in it shown at its line.

const text = document.querySelector("#text");
const marks = document.querySelector("#marks");
const list = document.querySelector("#faults");

// What the command says is wrong: a title, and the line and column where it is, both from 1.
export const faults = (stderr) => {
  const found = [];
  const lines = stderr.split("\n");
  lines.forEach((line, at) => {
    const place = /^\s*--> .*:(\d+):(\d+)$/.exec(line);
    if (!place) return;
    const title = lines[at - 1].replace(/^(error|warning): /, "");
    const behind = lines.slice(at + 1);
    const end = behind.findIndex((next) => next === "");
    const help = behind.slice(0, end < 0 ? undefined : end).find((next) => next.includes("= help: "));
    const carets = behind.find((next) => /^\s*\|\s*\^+/.test(next));
    const width = carets ? carets.trimEnd().length - carets.indexOf("^") : 1;
    found.push({
      title,
      help: help ? help.replace(/^.*= help: /, "") : "",
      line: Number(place[1]),
      column: Number(place[2]),
      width,
    });
  });
  return found;
};

const scroll = () => {
  marks.scrollTop = text.scrollTop;
  marks.scrollLeft = text.scrollLeft;
};
text.addEventListener("scroll", scroll);

// Shows faults at their lines, and in a list whose entries lead there.
export const show = (found) => {
  const by = Map.groupBy
    ? Map.groupBy(found, (fault) => fault.line)
    : found.reduce((map, fault) => map.set(fault.line, [...(map.get(fault.line) || []), fault]), new Map());
  const nodes = [];
  text.value.split("\n").forEach((line, at) => {
    const here = by.get(at + 1);
    if (!here) {
      nodes.push(`${line}\n`);
      return;
    }
    const row = document.createElement("span");
    row.className = "fault";
    const letters = [...line];
    let from = 0;
    for (const { column, width } of [...here].sort((a, b) => a.column - b.column)) {
      // One that lies in another is underlined with it.
      if (column - 1 < from) continue;
      const mark = document.createElement("mark");
      mark.textContent = letters.slice(column - 1, column - 1 + width).join("") || " ";
      row.append(letters.slice(from, column - 1).join(""), mark);
      from = column - 1 + width;
    }
    const says = document.createElement("span");
    says.className = "says";
    says.textContent = here.map((fault) => fault.title).join("; ");
    row.append(letters.slice(from).join(""), says);
    nodes.push(row, "\n");
  });
  marks.replaceChildren(...nodes);
  list.replaceChildren(
    ...found.map((fault) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `line ${fault.line}: ${fault.title}${fault.help ? ` (expected ${fault.help.replace(/^expected /, "")})` : ""}`;
      button.addEventListener("click", () => {
        const lines = text.value.split("\n");
        const before = lines.slice(0, fault.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
        const inside = [...(lines[fault.line - 1] || "")].slice(0, fault.column - 1).join("").length;
        text.focus();
        text.setSelectionRange(before + inside, before + inside + fault.width);
      });
      item.append(button);
      return item;
    }),
  );
  text.setAttribute("aria-invalid", String(found.length > 0));
  scroll();
};
