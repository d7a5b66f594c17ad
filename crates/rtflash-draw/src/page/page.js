"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);

  // Shows a text beside a place on the screen, and inside of it.
  const show = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = document.documentElement.clientWidth;
    const left = x + 14 + box.width > right ? x - 14 - box.width : x + 14;
    const top = y + 14 + box.height > innerHeight ? y - 14 - box.height : y + 14;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  };
  const hide = () => {
    tip.hidden = true;
  };

  // The text that an element is named by, kept so that the browser shows no second one.
  const taken = new WeakMap();
  const take = (element) => {
    const title = element.querySelector(":scope > title");
    if (title) {
      taken.set(element, title.textContent);
      title.remove();
    }
    return taken.get(element);
  };

  // Values of curves and bars: all that stand at one place are shown together.
  const values = (svg) => {
    const places = new Map();
    for (const group of svg.querySelectorAll("g.values")) {
      for (const mark of group.querySelectorAll("[data-at]")) {
        const [head, text] = take(mark).split("\n");
        const box = mark.getBBox();
        const at = Number(mark.dataset.at);
        const place = places.get(at) || { head, x: [], y: [], marks: [] };
        place.x.push(box.x + box.width / 2);
        place.y.push(box.y);
        place.marks.push({ mark, text, group });
        places.set(at, place);
      }
    }
    const rows = [...places.keys()].sort((a, b) => a - b).map((at) => places.get(at));
    for (const row of rows) row.middle = row.x.reduce((sum, x) => sum + x, 0) / row.x.length;
    if (rows.length === 0) return;
    let now = -1;
    const leave = () => {
      for (const near of svg.querySelectorAll(".near")) near.classList.remove("near");
      hide();
    };
    const point = (at, x, y) => {
      for (const near of svg.querySelectorAll(".near")) near.classList.remove("near");
      now = at;
      const shown = rows[at].marks.filter((one) => !one.group.classList.contains("hidden"));
      for (const one of shown) one.mark.classList.add("near");
      const head = svg.dataset.x ? `${svg.dataset.x}: ${rows[at].head}` : rows[at].head;
      show([head, ...shown.map((one) => one.text)].join("\n"), x, y);
    };
    svg.addEventListener("pointermove", (event) => {
      const there = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      let best = 0;
      rows.forEach((row, at) => {
        if (Math.abs(row.middle - there.x) < Math.abs(rows[best].middle - there.x)) best = at;
      });
      point(best, event.clientX, event.clientY);
    });
    svg.addEventListener("pointerleave", leave);
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "Figure: the left and right arrow keys show its values");
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") leave();
      if (!step || event.target !== svg) return;
      event.preventDefault();
      const at = Math.min(rows.length - 1, Math.max(0, now + step));
      const there = new DOMPoint(rows[at].middle, Math.min(...rows[at].y)).matrixTransform(svg.getScreenCTM());
      point(at, there.x, there.y);
    });
    svg.addEventListener("blur", leave);
  };

  // Names in the legend switch their curves.
  const switches = (svg) => {
    for (const key of svg.querySelectorAll("g.key")) {
      const curve = key.dataset.curve;
      key.setAttribute("tabindex", "0");
      key.setAttribute("role", "switch");
      key.setAttribute("aria-checked", "true");
      key.setAttribute("aria-label", key.textContent.trim());
      const turn = () => {
        const off = key.classList.toggle("off");
        key.setAttribute("aria-checked", String(!off));
        if (curve === undefined) {
          svg.classList.toggle("no-bands", off);
          return;
        }
        for (const group of svg.querySelectorAll(`g.curve[data-curve="${curve}"]`)) group.classList.toggle("hidden", off);
        svg.classList.toggle("some-off", svg.querySelector("g.key.off[data-curve]") !== null);
      };
      key.addEventListener("click", turn);
      key.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        turn();
      });
    }
  };

  for (const svg of document.querySelectorAll("svg.figure")) {
    values(svg);
    switches(svg);
  }

  // Operations in a chart.
  for (const chart of document.querySelectorAll("figure.chart")) {
    chart.addEventListener("pointermove", (event) => {
      const text = event.target instanceof SVGElement ? take(event.target) : undefined;
      if (text) show(text, event.clientX, event.clientY);
      else hide();
    });
    chart.addEventListener("pointerleave", hide);
  }

  // Tables, by the values of a column; what has none comes last.
  const sort = (table, column, down) => {
    const value = (row) => {
      const cell = row.cells[column];
      if (!table.tHead.rows[0].cells[column].classList.contains("number")) return cell.textContent;
      const number = Number(cell.dataset.v === undefined ? cell.textContent : cell.dataset.v);
      return Number.isNaN(number) ? undefined : number;
    };
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: value(row) }));
    rows.sort((a, b) => {
      if (a.value === undefined || b.value === undefined) return (a.value === undefined) - (b.value === undefined);
      const order = a.value < b.value ? -1 : Number(a.value > b.value);
      return down ? -order : order;
    });
    body.append(...rows.map((one) => one.row));
  };
  for (const table of document.querySelectorAll("table")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sort(table, column, down);
      });
    });
  }
})();
