// What a client costs a page in headless Chromium: from an empty page's load to its
// first report, and each call of report().

import { launchChromium } from "./lib/browser.mjs";
import { packageSite } from "./lib/package-page.mjs";
import { bold, say, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/** Fresh profiles, each with a first page. */
const STARTS = 30;
/** Reports of one client, in a window that allows them all. */
const REPORTS = 5000;
const ENTRIES = 20;

/** ε = 1, for people who rate twenty of 256 items. */
const TASK = {
  id: "bench",
  items: 256,
  sparsity: ENTRIES,
  epsilon: 1,
  value: "sign",
  budget: { reports: REPORTS },
  mechanism: {
    name: "collision",
    rule: "heaviest",
    favoured: 12,
    hashing: "balanced",
    buckets: 44,
  },
};

/**
 * Runs in the page: milliseconds from its load to a report that is stored.
 *
 * @param {any} task
 */
async function start(task) {
  const { hushbin } = /** @type {any} */ (globalThis);
  const client = hushbin.createClient({
    endpoint: "/nowhere",
    task,
    consent: true,
    maxEpsilon: Number.POSITIVE_INFINITY,
    delayMs: 86_400_000,
  });
  await client.report({ 3: 1 });
  const stored = performance.now();
  const [navigation] = /** @type {any} */ (performance.getEntriesByType("navigation"));
  client.destroy();
  return stored - navigation.loadEventEnd;
}

/**
 * Runs in the page: microseconds a report, until report() has returned, and until all are
 * stored.
 *
 * @param {{ task: any, storage: string, entries: number, reports: number }} options
 */
async function reports({ task, storage, entries, reports }) {
  const { hushbin } = /** @type {any} */ (globalThis);
  const client = hushbin.createClient({
    endpoint: "/nowhere",
    task,
    storage,
    consent: true,
    maxEpsilon: Number.POSITIVE_INFINITY,
    delayMs: 86_400_000,
  });
  await client.ready();
  const inputs = Array.from({ length: reports }, (_, person) =>
    Object.fromEntries(
      Array.from({ length: entries }, (_, entry) => [
        String((person + entry * 7) % 256),
        (person >> entry) % 2 === 0 ? 1 : -1,
      ]),
    ),
  );
  const begun = performance.now();
  const stored = inputs.map((input) => client.report(input));
  const returned = performance.now();
  const receipts = await Promise.all(stored);
  const done = performance.now();
  client.destroy();
  const queued = receipts.filter(({ outcome }) => outcome === "queued").length;
  const each = (ms) => (ms * 1000) / reports;
  return { queued, call: each(returned - begun), whole: each(done - begun) };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

export async function benchClient() {
  await setup({ browser: true });
  const { buildPackage } = await import("./build.mjs");
  await buildPackage();
  const site = await packageSite();
  const browser = await step("start: headless Chromium", launchChromium);
  /** A page of a profile of its own. */
  const inPage = async (work, argument) => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(site.url);
      await page.waitForFunction(() => "hushbin" in globalThis);
      return await page.evaluate(work, argument);
    } finally {
      await context.close();
    }
  };
  try {
    const starts = [];
    for (let run = 0; run < STARTS; run += 1) {
      starts.push(await inPage(start, TASK));
    }
    say(bold("\nfrom an empty page's load to its first report, stored: ms"));
    say(
      `median ${median(starts).toFixed(1)}, slowest of ${STARTS} ${Math.max(...starts).toFixed(1)}`,
    );
    say(bold(`\nreport() of ${ENTRIES} items: µs until it returns, and until it is stored`));
    for (const storage of ["device", "memory"]) {
      const options = { task: TASK, storage, entries: ENTRIES, reports: REPORTS };
      const rounds = [];
      for (let run = 0; run < 5; run += 1) {
        rounds.push(await inPage(reports, options));
      }
      const [call, whole] = [rounds.map((each) => each.call), rounds.map((each) => each.whole)];
      const queued = Math.min(...rounds.map((each) => each.queued));
      say(
        `${storage.padEnd(10)}${median(call).toFixed(1).padStart(10)}${median(whole).toFixed(1).padStart(10)}   (${queued} of ${REPORTS} queued)`,
      );
    }
  } finally {
    await browser.close();
    site.close();
  }
}
