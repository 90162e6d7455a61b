// npm run replay: reports the entries of a data set, person by person, from headless Chromium.
//
//   npm run replay -- --task FILE --data FILE --endpoint URL [--people N] [--one-by-one]
//                     [--analyser PIN]
//
// Chromium loads the built package and randomises one report for every person, including people
// without entries. Every report is randomised separately, as on a person's own machine.
//
// An upload contains up to 4,096 reports. With --one-by-one, a separate client without stored data
// makes and sends each report, as real people would. With --analyser, the endpoint is a shuffler,
// and each report is sealed separately to the analyser that has this pin.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { bold, ExplainedError, main, print, seconds, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/**
 * Number of people that the script passes to the page at once, which is the maximum number of
 * reports in an upload.
 */
const PEOPLE_PER_CHUNK = 4096;

const whole = (number) => Math.round(number).toLocaleString("en");

async function getJson(url) {
  let response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw new ExplainedError(`no collector answers at ${url}`, { cause });
  }
  if (!response.ok) {
    throw new ExplainedError(`${url} answered ${response.status}: ${await response.text()}`);
  }
  return response.json();
}

/**
 * Returns the collector's task with the id that the task file states. Fails if this task differs
 * from the file.
 */
async function collectorTaskMatchingFile(file, endpoint) {
  const draft = JSON.parse(readFileSync(file, "utf8"));
  const { task } = await getJson(`${endpoint}/tasks/${encodeURIComponent(draft.id)}`);
  for (const field of ["items", "sparsity", "epsilon", "value"]) {
    // The collector chose the fields that the file leaves open.
    if (draft[field] !== undefined && !isDeepStrictEqual(draft[field], task[field])) {
      throw new ExplainedError(`the collector's task ${task.id} differs from ${file} in ${field}`);
    }
  }
  return task;
}

/**
 * Returns the number of reports that the collector's estimates use. For a shuffler, returns the
 * number of reports that it has accepted.
 */
async function reportsSoFar(endpoint, task, analyser) {
  if (analyser !== undefined) {
    const metrics = await (await fetch(`${endpoint}/metrics`)).text();
    return Number(metrics.match(/^hushbin_reports_accepted_total (\d+)$/m)?.[1]);
  }
  const item = Array.isArray(task.items) ? encodeURIComponent(task.items[0]) : "0";
  return (await getJson(`${endpoint}/tasks/${task.id}/estimates?items=${item}`)).reports;
}

/**
 * Runs in the page. Creates the randomizer, and a `fetch` that measures the time of requests.
 *
 * @param {{ endpoint: string, task: any, analyser: string | undefined }} options
 */
async function installReplayGlobals({ endpoint, task, analyser }) {
  const timing = { underway: 0, since: 0, sendingMs: 0, makingMs: 0, requests: 0 };
  /** @type {typeof fetch} */
  const timedFetch = async (url, init) => {
    if (timing.underway === 0) {
      timing.since = performance.now();
    }
    timing.underway += 1;
    timing.requests += 1;
    try {
      return await fetch(url, init);
    } finally {
      timing.underway -= 1;
      if (timing.underway === 0) {
        timing.sendingMs += performance.now() - timing.since;
      }
    }
  };
  const { hushbin } = /** @type {any} */ (globalThis);
  const randomizer = await hushbin.createRandomizer({ task });
  const createClient = (options) =>
    hushbin.createClient({ ...options, ...(analyser !== undefined && { analyser: [analyser] }) });
  Object.assign(globalThis, { randomizer, timing, timedFetch, endpoint, createClient });
}

/** Runs in the page. Sends one upload that has a report for each person. */
async function reportTogether(inputs) {
  const { endpoint, randomizer, timing, timedFetch } = /** @type {any} */ (globalThis);
  const begun = performance.now();
  const reports = inputs.map((input) => randomizer.randomize(input));
  timing.makingMs += performance.now() - begun;
  const bytes = new Uint8Array(await new Blob(reports).arrayBuffer());
  const body = randomizer.upload(bytes, reports.length);
  const url = `${endpoint}/tasks/${randomizer.task.id}/reports`;
  const response = await timedFetch(url, { method: "POST", body });
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  }
}

/** Runs in the page. Creates a client for each person, which sends that person's report. */
async function reportOneByOne(inputs) {
  const { endpoint, createClient, randomizer, timing, timedFetch } = /** @type {any} */ (
    globalThis
  );
  const { task } = randomizer;
  const own = { consent: true, maxEpsilon: Number.POSITIVE_INFINITY, storage: "memory" };
  const flushes = [];
  // The time includes making the client.
  const begun = performance.now();
  for (const input of inputs) {
    const client = createClient({ endpoint, task, fetch: timedFetch, ...own });
    await client.report(input);
    flushes.push(client.flush().finally(() => client.destroy()));
  }
  timing.makingMs += performance.now() - begun;
  await Promise.all(flushes);
}

/** Runs in the page. Returns the measured times. */
const readPageTiming = () => /** @type {any} */ (globalThis).timing;

async function replay({ task: file, data, endpoint, people, oneByOne, analyser }) {
  await setup({ browser: true });
  const { buildPackage } = await import("./build.mjs");
  const { readDataSet } = await import("./lib/data-set.mjs");
  const { createProgressBar: progress } = await import("./lib/progress.mjs");
  const { withPackagePage } = await import("./lib/package-page.mjs");
  await buildPackage();
  const task = await step(`read: ${file}, as the collector has it`, () =>
    collectorTaskMatchingFile(file, endpoint),
  );
  const { items, inputs } = await step(`read: ${data}`, () => readDataSet(data, people));
  const count = Array.isArray(task.items) ? task.items.length : task.items;
  if (count !== "open" && items > count) {
    throw new ExplainedError(`${data} has ${items} items, task ${task.id} has ${count}`);
  }
  const name = Array.isArray(task.items) ? (item) => task.items[item] : String;

  const before = await reportsSoFar(endpoint, task, analyser);
  await withPackagePage(async (page) => {
    await page.evaluate(installReplayGlobals, { endpoint, task, analyser });
    const begun = performance.now();
    const timing = await step(`report: ${whole(inputs.length)} people`, async () => {
      const bar = progress("  reported", inputs.length);
      for (let done = 0; done < inputs.length; done += PEOPLE_PER_CHUNK) {
        const chunk = inputs
          .slice(done, done + PEOPLE_PER_CHUNK)
          .map((entries) =>
            Object.fromEntries(entries.map(([item, value]) => [name(item), value])),
          );
        await page.evaluate(oneByOne ? reportOneByOne : reportTogether, chunk);
        bar.at(done + chunk.length);
      }
      bar.end();
      return page.evaluate(readPageTiming);
    });
    const total = performance.now() - begun;
    const taken = (await reportsSoFar(endpoint, task, analyser)) - before;
    const rate = (ms) => `${whole((inputs.length / ms) * 1000)} a second`;
    print("");
    print(
      `made in Chromium   ${whole(inputs.length)} reports, ${rate(timing.makingMs)}, ${((timing.makingMs * 1000) / inputs.length).toFixed(1)} µs each`,
    );
    print(
      `taken by collector ${whole(taken)} reports in ${whole(timing.requests)} requests, ${rate(timing.sendingMs)} while any was under way`,
    );
    print(bold(`in all             ${seconds(total)}, ${rate(total)}`));
    if (taken !== inputs.length) {
      throw new ExplainedError(
        `${whole(inputs.length)} people reported, the collector counted ${whole(taken)}`,
      );
    }
  });
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      task: { type: "string" },
      data: { type: "string" },
      endpoint: { type: "string" },
      people: { type: "string" },
      "one-by-one": { type: "boolean", default: false },
      analyser: { type: "string" },
    },
  });
  const { task, data, endpoint, analyser } = values;
  const people = values.people === undefined ? undefined : Number(values.people);
  const wrong = people !== undefined && !(Number.isInteger(people) && people > 0);
  if (task === undefined || data === undefined || endpoint === undefined || wrong) {
    throw new ExplainedError(
      "usage: npm run replay -- --task FILE --data FILE --endpoint URL [--people N] [--one-by-one] [--analyser PIN]",
    );
  }
  await replay({
    task,
    data,
    endpoint: endpoint.replace(/\/+$/, ""),
    people,
    oneByOne: values["one-by-one"] || analyser !== undefined,
    analyser,
  });
});
