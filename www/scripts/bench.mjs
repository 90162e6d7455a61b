// npm run bench: measures speed and accuracy.
//
// It compares the mechanisms with naive implementations, and the errors of estimates with the
// errors in the papers. It also measures the privacy accounting of a batch, uploads to the
// collector, and randomising and reporting in a browser.
//
//   node www/scripts/bench.mjs [BENCH...]

import { benchBrowser } from "./bench-browser.mjs";
import { benchClient } from "./bench-client.mjs";
import { ExplainedError, main, run, step } from "./lib/run.mjs";

/** @param {string} name of a package */
const cargoBenchOf = (name) => (bench) =>
  run("cargo", ["bench", "--package", name, "--bench", bench]);
const runServerBench = cargoBenchOf("hushbin-server");
const runStudyBench = cargoBenchOf("hushbin-study");
const analysis = cargoBenchOf("hushbin-analysis");

/** Functions that run the benchmarks, by name, in the order in which they run. */
const BENCHES = {
  mechanisms: runServerBench,
  accuracy: runStudyBench,
  questions: runStudyBench,
  accounting: runServerBench,
  estimates: analysis,
  collector: runServerBench,
  browser: benchBrowser,
  client: benchClient,
};

await main(async () => {
  const names = process.argv.slice(2);
  const known = Object.keys(BENCHES);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new ExplainedError(`no bench ${unknown}; there are ${known.join(", ")}`);
  }
  for (const name of names.length > 0 ? names : known) {
    await step(`bench: ${name}`, () => BENCHES[name](name));
  }
});
