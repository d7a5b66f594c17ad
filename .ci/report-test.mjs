// Opens the reports named as arguments in a browser: nothing on the console, nothing asked for, curves switch by mouse
// and keys, values are shown, tables sort.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { Browser } from "./browser.mjs";

const browser = await Browser.start();
try {
  for (const path of process.argv.slice(2)) {
    const url = pathToFileURL(path).href;
    const page = await browser.open(url);
    const ask = (expression) => browser.evaluate(expression);
    const shown = `[...document.querySelectorAll("svg.figure")[0].querySelectorAll("g.values")]
      .map((group) => getComputedStyle(group).display !== "none")`;
    const before = await ask(shown);
    assert(before.length > 0 && before.every((one) => one), `${path}: all curves are shown at first`);

    // By mouse, then by keys.
    await ask(`document.querySelector("g.key[data-curve='0']").dispatchEvent(new MouseEvent("click", { bubbles: true }))`);
    assert.deepEqual(await ask(shown), before.map((_, at) => at > 0), `${path}: a click hides a curve`);
    await ask(`document.querySelector("g.key[data-curve='0']").focus()`);
    await browser.press("Enter");
    assert.deepEqual(await ask(shown), before, `${path}: Enter shows it`);
    await browser.press(" ");
    assert.deepEqual(await ask(shown), before.map((_, at) => at > 0), `${path}: a blank hides it`);
    await browser.press(" ");

    // Values, by keys and by the mouse.
    const tip = `document.querySelector("#tip").hidden ? "" : document.querySelector("#tip").textContent`;
    await ask(`document.querySelector("svg.figure").focus()`);
    await browser.press("ArrowRight");
    const first = await ask(tip);
    await browser.press("ArrowRight");
    assert(first.split("\n").length > 1 && (await ask(tip)) !== first, `${path}: arrows show values: ${first}`);
    await browser.press("Escape");
    assert.equal(await ask(tip), "");
    const place = await ask(`(() => {
      const marks = [...document.querySelectorAll("g.values [data-at]")].filter((one) => one.getBBox().height > 0);
      marks[0].scrollIntoView();
      const box = marks[0].getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    })()`);
    await browser.call("Input.dispatchMouseEvent", { type: "mouseMoved", ...place });
    assert.match(await ask(tip), /\n/, `${path}: the mouse shows values`);

    const box = await ask(`(() => {
      const title = document.querySelector("figure.chart rect > title");
      if (!title) return null;
      title.parentNode.scrollIntoView();
      const { x, y, width, height } = title.parentNode.getBoundingClientRect();
      return { text: title.textContent, x: x + width / 2, y: y + height / 2 };
    })()`);
    if (box) {
      await browser.call("Input.dispatchMouseEvent", { type: "mouseMoved", x: box.x, y: box.y });
      assert.equal(await ask(tip), box.text, `${path}: the mouse names an operation`);
    }

    // The first column of each table that has numbers, both ways.
    const tables = await ask(`[...document.querySelectorAll("table")].map((table) => {
      const heads = [...table.tHead.rows[0].cells];
      const at = heads.findIndex((head) => head.classList.contains("number"));
      const column = () => [...table.tBodies[0].rows].map((row) => row.cells[at])
        .map((cell) => Number(cell.dataset.v === undefined ? cell.textContent : cell.dataset.v))
        .filter((number) => !Number.isNaN(number));
      const button = heads[at].querySelector("button");
      button.click();
      const up = column();
      const sort = heads[at].getAttribute("aria-sort");
      button.click();
      return { up, down: column(), sort };
    })`);
    assert(tables.length > 1, `${path}: tables`);
    for (const { up, down, sort } of tables) {
      assert.equal(sort, "ascending");
      assert.deepEqual(up, [...up].sort((a, b) => a - b), `${path}: ascending`);
      assert.deepEqual(down, [...up].reverse(), `${path}: descending`);
    }
    // Without its script the page shows the same.
    await browser.call("Emulation.setScriptExecutionDisabled", { value: true });
    await browser.open(url);
    const still = await ask(`({
      curves: ${shown},
      tip: document.querySelector("#tip") === null,
      titles: document.querySelectorAll("g.values title").length,
      heads: document.querySelectorAll("th").length,
      twice: [...document.querySelectorAll(".whole")].some((one) => getComputedStyle(one).display !== "none"),
    })`);
    await browser.call("Emulation.setScriptExecutionDisabled", { value: false });
    assert.deepEqual(still.curves, before, `${path}: curves without a script`);
    assert(still.tip && still.titles > 0 && still.heads > 0 && !still.twice, `${path}: without a script`);

    assert.deepEqual(page.messages, [], `${path}: the console`);
    assert.deepEqual(page.requests.filter((one) => one !== url && !one.startsWith("data:")), [], `${path}: requests`);
    console.log(`${path}: ${before.length} curves, ${tables.length} tables`);
  }
} finally {
  browser.stop();
}
