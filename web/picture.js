// Which chips are in which cluster, and what fills the clusters.

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["#9ecae1", "#fdd49e", "#a1d99b", "#dadaeb", "#fcbba1", "#c7e9c0", "#d9d9d9", "#fee391"];
const PARTS = [
  ["read", "#9ecae1", "read_utilization"],
  ["write", "#3182bd", "write_utilization"],
  ["garbage collection", "#6a51a3", "gc_utilization"],
  ["blocking", "#bdbdbd", "blocking"],
];
const WIDTH = 680;
const LEFT = 120;
const BARS = 24;

const element = (name, attributes, text) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

// The chips in rows, each in the colour of its cluster.
const chips = (svg, clusters) => {
  const all = clusters.flatMap((cluster, at) => cluster.chips.map((chip) => ({ chip, at, cluster })));
  all.sort((a, b) => a.chip - b.chip);
  const side = Math.max(9, Math.min(40, Math.floor((WIDTH - 16) / Math.min(all.length, 64)) - 3));
  const columns = Math.floor((WIDTH - 16) / (side + 3));
  all.forEach(({ chip, at, cluster }, position) => {
    const x = 8 + (position % columns) * (side + 3);
    const y = 24 + Math.floor(position / columns) * (side + 3);
    const free = cluster.tasks.length === 0;
    const fill = free ? "none" : COLOURS[at % COLOURS.length];
    const rect = element("rect", { x, y, width: side, height: side, rx: 3, fill, stroke: "#888" });
    rect.append(element("title", {}, `chip ${chip}, cluster ${at}: ${free ? "free" : cluster.tasks.join(", ")}`));
    svg.append(rect);
    const label = { x: x + side / 2, y: y + side / 2 + 4, "text-anchor": "middle", "font-size": 11 };
    if (side >= 20) svg.append(element("text", free ? label : { ...label, class: "on" }, chip));
  });
  return 24 + Math.ceil(all.length / columns) * (side + 3);
};

// A picture of an allocation, as `alloc --format json` prints it.
export const picture = (answer) => {
  const svg = element("svg", { "font-family": "DejaVu Sans, sans-serif", "font-size": 12 });
  svg.append(element("text", { x: 8, y: 16 }, "Chips, by cluster"));
  let y = chips(svg, answer.clusters) + 22;
  const used = answer.clusters.map((cluster, at) => ({ cluster, at })).filter(({ cluster }) => cluster.tasks.length > 0);
  const most = Math.max(1, ...used.map(({ cluster }) => cluster.utilization));
  const scale = (WIDTH - LEFT - 30) / most;
  let x = 8;
  for (const [name, fill] of PARTS) {
    svg.append(element("rect", { x, y: y - 10, width: 11, height: 11, fill }));
    svg.append(element("text", { x: x + 16, y }, name));
    x += 34 + name.length * 6.6;
  }
  y += 14;
  const top = y;
  for (const { cluster, at } of used.slice(0, BARS)) {
    const name = `cluster ${at}`;
    svg.append(element("rect", { x: 8, y: y + 3, width: 11, height: 11, fill: COLOURS[at % COLOURS.length] }));
    svg.append(element("text", { x: 24, y: y + 13 }, name));
    let from = LEFT;
    for (const [part, fill, field] of PARTS) {
      const width = cluster[field] * scale;
      const bar = element("rect", { x: from.toFixed(2), y, width: width.toFixed(2), height: 18, fill });
      bar.append(element("title", {}, `${name}: ${part} ${cluster[field].toFixed(4)}`));
      svg.append(bar);
      from += width;
    }
    svg.append(element("text", { x: from + 5, y: y + 13, "font-size": 11 }, cluster.utilization.toFixed(4)));
    y += 24;
  }
  const limit = LEFT + scale;
  svg.append(element("path", { class: "limit", d: `M${limit} ${top - 4}V${y}` }));
  svg.append(element("text", { x: limit, y: y + 13, "text-anchor": "end", "font-size": 11 }, "1"));
  if (used.length > BARS) {
    svg.append(element("text", { x: 8, y: y + 13 }, `${used.length - BARS} further clusters are in the table.`));
  }
  const height = y + 22;
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  svg.setAttribute("width", WIDTH);
  svg.setAttribute("height", height);
  return svg;
};
