// A headless Chromium driven over a pipe (its DevTools protocol), without a package: opens pages, asks them, and
// collects what they say on the console.

import { spawn } from "node:child_process";

export class Browser {
  static async start(options = []) {
    const browser = new Browser();
    const usual = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"];
    browser.process = spawn(process.env.CHROMIUM || "chromium", [...usual, ...options, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    browser.waiting = new Map();
    browser.events = new Set();
    browser.last = 0;
    let rest = "";
    browser.process.stdio[4].on("data", (data) => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      for (const part of parts) browser.hear(JSON.parse(part));
    });
    const { targetId } = await browser.call("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.call("Target.attachToTarget", { targetId, flatten: true });
    browser.session = sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await browser.call(`${domain}.enable`);
    return browser;
  }

  hear(message) {
    if (message.id) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(JSON.stringify(message.error)));
      else resolve(message.result);
      return;
    }
    for (const listener of this.events) listener(message);
  }

  call(method, params = {}) {
    const id = ++this.last;
    const sessionId = method.startsWith("Target.") ? undefined : this.session;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  // Opens a page, and returns once it is loaded: what it says from then on, and what it asks for.
  async open(url) {
    const page = { messages: [], requests: [] };
    let loaded;
    const done = new Promise((resolve) => {
      loaded = resolve;
    });
    this.events.clear();
    this.events.add(({ method, params }) => {
      if (method === "Page.loadEventFired") loaded();
      if (method === "Runtime.consoleAPICalled") page.messages.push(params.args.map((one) => one.value).join(" "));
      if (method === "Runtime.exceptionThrown") page.messages.push(JSON.stringify(params.exceptionDetails));
      if (method === "Log.entryAdded") page.messages.push(params.entry.text);
      if (method === "Network.requestWillBeSent") page.requests.push(params.request.url);
    });
    await this.call("Page.navigate", { url });
    await done;
    return page;
  }

  async evaluate(expression) {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", asked);
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  }

  // Presses a key, such as Enter, where the focus is.
  async press(key) {
    const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
    await this.call("Input.dispatchKeyEvent", { type: "keyDown", key, text });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", key });
  }

  async screenshot() {
    const { data } = await this.call("Page.captureScreenshot", { captureBeyondViewport: true });
    return Buffer.from(data, "base64");
  }

  stop() {
    this.process.kill();
  }
}
