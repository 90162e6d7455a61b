// npm run bench: what the mechanisms cost beside their naive twins, what their
// estimates are worth beside the papers', what accounting for a batch costs, what
// the collector takes, and what randomising and reporting cost in a browser.
//
//   node www/scripts/bench.mjs [BENCH...]

import { benchBrowser } from "./bench-browser.mjs";
import { benchClient } from "./bench-client.mjs";
import { Failed, main, run, step } from "./lib/run.mjs";

/** Files of server/benches, in the order in which they run. */
const NATIVE = ["mechanisms", "accuracy", "questions", "accounting", "collector"];
const IN_BROWSER = { browser: benchBrowser, client: benchClient };
const BENCHES = [...NATIVE, ...Object.keys(IN_BROWSER)];

await main(async () => {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !BENCHES.includes(name));
  if (unknown !== undefined) {
    throw new Failed(`no bench ${unknown}; there are ${BENCHES.join(", ")}`);
  }
  for (const name of names.length > 0 ? names : BENCHES) {
    await step(
      `bench: ${name}`,
      IN_BROWSER[name] ??
        (() => run("cargo", ["bench", "--package", "hushbin-server", "--bench", name])),
    );
  }
});
