// Measures how fast headless Chromium randomises: through randomizeMany() with packed arrays, and
// through randomize() with objects.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bold, print, run, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/**
 * Tasks to measure, each with its number of items, its sparsity and its ε, as in the native
 * benchmarks.
 */
const TASK_PARAMETERS = [
  [64, 4, 1],
  [256, 2, 0.5],
  [256, 8, 1],
  [256, 16, 1.5],
  [1378, 6, 2],
  [4096, 64, 1],
];
const MECHANISMS = {
  collision: "collision",
  coco: "coco",
  "hash-bin, user": "hash-bin",
  "hash-bin, event": { name: "hash-bin", level: "event" },
};

/** Chooses the missing parameters of the draft tasks, with the collector's command. */
async function completeTasks() {
  const { buildCollector } = await import("./lib/collector.mjs");
  const program = await buildCollector();
  const directory = mkdtempSync(join(tmpdir(), "hushbin-bench-"));
  try {
    const tasks = [];
    for (const [items, sparsity, epsilon] of TASK_PARAMETERS) {
      for (const [name, mechanism] of Object.entries(MECHANISMS)) {
        const draft = { id: "bench", items, sparsity, epsilon, value: "sign", mechanism };
        const [file, complete] = [join(directory, "draft.json"), join(directory, "task.json")];
        writeFileSync(file, JSON.stringify(draft));
        await run(program, ["task", "check", file, "--out", complete], { quiet: true });
        tasks.push({ name, task: JSON.parse(readFileSync(complete, "utf8")) });
      }
    }
    return tasks;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Runs in the page. Returns the time per report in microseconds, as the median of several rounds.
 *
 * @param {any} task
 */
async function measureTimePerReport(task) {
  const people = 4000;
  const rounds = 9;
  const { items: count, sparsity } = task;
  const randomizer = await /** @type {any} */ (globalThis).hushbin.createRandomizer({ task });
  const lengths = new Uint32Array(people).fill(sparsity);
  const items = new Uint32Array(people * sparsity);
  const values = new Float64Array(items.length);
  for (let index = 0; index < items.length; index += 1) {
    const [person, entry] = [Math.floor(index / sparsity), index % sparsity];
    items[index] = (person + entry * Math.floor(count / sparsity)) % count;
    values[index] = (person + entry) % 2 === 0 ? 1 : -1;
  }
  const inputs = Array.from({ length: people }, (_, person) => {
    const own = Array.from({ length: sparsity }, (_, entry) => person * sparsity + entry);
    return Object.fromEntries(own.map((index) => [String(items[index]), values[index]]));
  });
  /** @param {() => void} work */
  const median = (work) => {
    const times = Array.from({ length: rounds }, () => {
      const begun = performance.now();
      work();
      return performance.now() - begun;
    });
    return ((times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0) * 1000) / people;
  };
  const packed = () => randomizer.randomizeMany(lengths, items, values);
  const objects = () => inputs.forEach((input) => void randomizer.randomize(input));
  // Warm-up, because the engine compiles code only after it has run often.
  packed();
  objects();
  return { packed: median(packed), objects: median(objects) };
}

export async function benchBrowser() {
  await setup({ browser: true });
  const { buildPackage } = await import("./build.mjs");
  const { withPackagePage } = await import("./lib/package-page.mjs");
  await buildPackage();
  const tasks = await step("choose: parameters", completeTasks);
  await withPackagePage(async (page) => {
    const rows = [];
    for (const { name, task } of tasks) {
      rows.push({ name, task, times: await page.evaluate(measureTimePerReport, task) });
    }
    print(bold("\nrandomising in headless Chromium, µs a report    packed arrays    objects"));
    for (const { name, task, times } of rows) {
      const what = `${name}, d = ${task.items}, s = ${task.sparsity}, ε = ${task.epsilon}`;
      const packed = times.packed.toFixed(2).padStart(13);
      print(`${what.padEnd(48)}${packed}${times.objects.toFixed(2).padStart(11)}`);
    }
  });
}
