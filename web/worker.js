// Runs the command beside the page, so that the page answers while it runs.

import { run } from "./run.js";

addEventListener("message", async ({ data: { id, module, args, files } }) => {
  try {
    postMessage({ id, answer: await run(module, args, files) });
  } catch (error) {
    postMessage({ id, error: String(error) });
  }
});
