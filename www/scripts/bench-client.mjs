// Measures a client in headless Chromium: the time from loading the package in an empty page to the
// first stored report, and the time of each call of report().

import { launchChromium } from "./lib/browser.mjs";
import { packageSite } from "./lib/package-page.mjs";
import { bold, print, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/** Number of starts that are measured, each in a fresh browser profile. */
const STARTS = 30;
/** Number of reports that one client makes, all within the budget of its time window. */
const REPORTS = 5000;
/** Number of concurrent reports. A single report is too short for the clock of a page. */
const CONCURRENT_REPORTS = 100;
const ENTRIES_PER_REPORT = 20;

/** Variants of the client, each with its name, its storage, and whether it seals reports. */
const STORAGE_AND_SEALING_CASES = /** @type {const} */ ([
  ["device", "device", false],
  ["memory", "memory", false],
  ["device, sealed", "device", true],
  ["memory, sealed", "memory", true],
]);

/** Task with ε = 1, in which people rate twenty of 256 items. */
const TASK = {
  id: "bench",
  items: 256,
  sparsity: ENTRIES_PER_REPORT,
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
 * Count of numbers that each person reports, and number of people. The clients report one after
 * another.
 */
const NUMBERS_PER_PERSON = 4;
const PEOPLE = 100;

/**
 * Sum task with central ε = 1 and δ = 10⁻⁶ for 10,000 people. The parameters of its messages were
 * chosen for these values.
 */
const SUM_TASK = {
  id: "sums",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 10_000,
  numbers: Array.from({ length: NUMBERS_PER_PERSON }, (_, index) => ({
    name: `n${index}`,
    min: 0,
    max: 1,
  })),
  messages: {
    levels: 6,
    drawn: NUMBERS_PER_PERSON,
    trials: 3,
    threshold: "4720160054364179456",
    noise: 24,
  },
};

/**
 * Runs in an empty page that has loaded. Returns two times in milliseconds: until the package is
 * imported, and until a first report is stored. This machine serves the package.
 *
 * @param {any} task
 */
async function measureFirstReport(task) {
  const begun = performance.now();
  const { createClient } = await import(/** @type {string} */ ("/dist/index.js"));
  const imported = performance.now();
  const client = createClient({
    endpoint: "/nowhere",
    task,
    consent: true,
    maxEpsilon: Number.POSITIVE_INFINITY,
    delayMs: 86_400_000,
  });
  await client.report({ 3: 1 });
  const stored = performance.now();
  client.destroy();
  return [imported - begun, stored - begun];
}

/**
 * Runs in an empty page. Measures how long the browser takes to import an empty script, open a
 * database and store something. A package that imports a script and stores reports cannot be
 * faster.
 */
async function measureBrowserAlone() {
  const begun = performance.now();
  await import(/** @type {string} */ ("/empty.js"));
  const imported = performance.now();
  const done = (request) =>
    new Promise((resolve) => {
      request.onsuccess = () => resolve(request.result);
    });
  const opening = indexedDB.open("least", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("all", { autoIncrement: true });
  const database = await done(opening);
  const transaction = database.transaction("all", "readwrite", { durability: "relaxed" });
  transaction.objectStore("all").put({});
  await new Promise((resolve) => {
    transaction.oncomplete = resolve;
  });
  const stored = performance.now();
  database.close();
  return [imported - begun, stored - begun];
}

/**
 * Runs in the page. Returns two times in microseconds per report: until all calls of report() have
 * returned, and until all reports are stored.
 *
 * @param {{ task: any, storage: string, sealing?: boolean, entries: number, reports: number,
 * together: number }} options
 */
async function measureReportCalls({ task, storage, sealing = false, entries, reports, together }) {
  const { hushbin } = /** @type {any} */ (globalThis);
  const options = {
    endpoint: "/nowhere",
    task,
    storage,
    consent: true,
    maxEpsilon: Number.POSITIVE_INFINITY,
    delayMs: 86_400_000,
  };
  /** Returns options for a client that seals its reports to a key pair made in this page. */
  const analyser = async () => {
    const { fingerprint } = await hushbin.createRandomizer({ task });
    const { subtle } = crypto;
    const pair = /** @type {CryptoKeyPair} */ (
      await subtle.generateKey("X25519", true, ["deriveBits"])
    );
    const hex = (buffer) =>
      Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
    // A key configuration for reports of 9 bytes.
    const key = hex(await subtle.exportKey("raw", pair.publicKey));
    const configuration = `01${fingerprint}002000010001${key}0009`;
    const bytes = Uint8Array.from(configuration.match(/../g) ?? [], (pair) =>
      Number.parseInt(pair, 16),
    );
    const pin = hex(await subtle.digest("SHA-256", bytes)).slice(0, 32);
    const fetch = async () => Response.json({ keys: [configuration] });
    return { analyser: [pin], fetch };
  };
  const client = hushbin.createClient({ ...options, ...(sealing && (await analyser())) });
  await client.ready();
  const inputs = Array.from({ length: reports }, (_, person) =>
    Object.fromEntries(
      Array.from({ length: entries }, (_, entry) => [
        String((person + entry * 7) % 256),
        (person >> entry) % 2 === 0 ? 1 : -1,
      ]),
    ),
  );
  let returned = 0;
  let queued = 0;
  const begun = performance.now();
  for (let from = 0; from < reports; from += together) {
    const some = inputs.slice(from, from + together);
    const called = performance.now();
    const stored = some.map((input) => client.report(input));
    returned += performance.now() - called;
    for (const { sent } of await Promise.all(stored)) {
      queued += sent ? 1 : 0;
    }
  }
  const done = performance.now();
  const [{ bytes }] = await client.history();
  client.destroy();
  const each = (ms) => (ms * 1000) / reports;
  return { queued, call: each(returned), whole: each(done - begun), bytes: bytes.length };
}

/**
 * Runs in the page. Returns two times in microseconds per report to a sum task. The first is the
 * time to make the messages. The second is the time of a call of report(), which makes messages,
 * seals each separately, and stores them. Also returns the numbers of messages and bytes.
 *
 * @param {{ task: any, people: number }} options
 */
async function measureSums({ task, people }) {
  const { hushbin } = /** @type {any} */ (globalThis);
  const input = Object.fromEntries(task.numbers.map(({ name }) => [name, 0.3]));
  const randomizer = await hushbin.createRandomizer({ task });
  const { subtle } = crypto;
  const pair = /** @type {CryptoKeyPair} */ (
    await subtle.generateKey("X25519", true, ["deriveBits"])
  );
  const hex = (buffer) =>
    Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const key = hex(await subtle.exportKey("raw", pair.publicKey));
  // A key configuration for messages of one byte.
  const configuration = `01${randomizer.fingerprint}002000010001${key}0001`;
  const bytes = Uint8Array.from(configuration.match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  );
  const pin = hex(await subtle.digest("SHA-256", bytes)).slice(0, 32);
  const clients = Array.from({ length: people }, () =>
    hushbin.createClient({
      endpoint: "/nowhere",
      task,
      trust: "shuffler",
      analyser: [pin],
      fetch: async () => Response.json({ keys: [configuration] }),
      storage: "memory",
      consent: true,
      delayMs: 86_400_000,
    }),
  );
  await Promise.all(clients.map((client) => client.ready()));
  const begun = performance.now();
  for (let person = 0; person < people; person += 1) {
    randomizer.randomize(input);
  }
  const made = performance.now();
  for (const client of clients) {
    await client.report(input);
  }
  const stored = performance.now();
  const [{ bytes: sent }] = await clients[0].history();
  clients.forEach((client) => void client.destroy());
  const each = (ms) => (ms * 1000) / people;
  return {
    make: each(made - begun),
    whole: each(stored - made),
    messages: randomizer.messages,
    bytes: sent.length,
  };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

export async function benchClient() {
  await setup({ browser: true });
  const { buildPackage } = await import("./build.mjs");
  await buildPackage();
  const site = await packageSite();
  const browser = await step("start: headless Chromium", launchChromium);
  /** Runs a function in a page with a fresh profile. */
  const inPage = async (path, work, argument) => {
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(site.url + path);
      return await page.evaluate(work, argument);
    } finally {
      await context.close();
    }
  };
  try {
    /**
     * Prints the medians of two times over many starts in fresh profiles, and the maximum of the
     * second.
     */
    const cold = async (what, work) => {
      const starts = [];
      for (let run = 0; run < STARTS; run += 1) {
        starts.push(await inPage("/empty", work, TASK));
      }
      const imported = starts.map((each) => each[0]);
      const stored = starts.map((each) => each[1]);
      const times = [median(imported), median(stored), Math.max(...stored)];
      print(`${what.padEnd(20)}${times.map((ms) => ms.toFixed(1).padStart(10)).join("")}`);
    };
    print(bold("\nfrom an empty page's load, ms: script imported, first report stored, slowest"));
    await cold("hushbin", measureFirstReport);
    await cold("the browser alone", measureBrowserAlone);
    print(
      bold(
        `\nreport() of ${ENTRIES_PER_REPORT} items: µs until it returns, and until it is stored; bytes`,
      ),
    );
    for (const [name, storage, sealing] of STORAGE_AND_SEALING_CASES) {
      const options = {
        task: TASK,
        storage,
        sealing,
        entries: ENTRIES_PER_REPORT,
        reports: REPORTS,
        together: CONCURRENT_REPORTS,
      };
      const rounds = [];
      for (let run = 0; run < 5; run += 1) {
        rounds.push(await inPage("/", measureReportCalls, options));
      }
      const [call, whole] = [rounds.map((each) => each.call), rounds.map((each) => each.whole)];
      const queued = Math.min(...rounds.map((each) => each.queued));
      print(
        `${name.padEnd(16)}${median(call).toFixed(1).padStart(10)}${median(whole).toFixed(1).padStart(10)}${String(rounds[0]?.bytes).padStart(8)}   (${queued} of ${REPORTS} queued)`,
      );
    }
    print(
      bold(
        `\nreport() of sums of ${NUMBERS_PER_PERSON} numbers: µs to make the messages, and until they are sealed and stored; messages, bytes`,
      ),
    );
    const rounds = [];
    for (let run = 0; run < 5; run += 1) {
      rounds.push(await inPage("/", measureSums, { task: SUM_TASK, people: PEOPLE }));
    }
    const [{ messages = 0, bytes = 0 } = {}] = rounds;
    const [make, whole] = [rounds.map((each) => each.make), rounds.map((each) => each.whole)];
    print(
      `${"memory, sealed".padEnd(16)}${median(make).toFixed(1).padStart(10)}${median(whole).toFixed(1).padStart(10)}${String(messages).padStart(8)}${String(bytes).padStart(8)}`,
    );
  } finally {
    await browser.close();
    site.close();
  }
}
