/** Compares the two modules: they behave alike wherever both support a task. */

import { readFile } from "node:fs/promises";
import { beforeAll, expect, it, vi } from "vitest";
import { CORE_CODES } from "../codes.js";
import type { Task } from "../index.js";
import { canonicalBytes } from "../task.js";
import { FINGERPRINT_END } from "../upload.js";
import { PLUGINS, RATINGS, SETTINGS, SURVEY } from "./harness.js";

type Glue = typeof import("../wasm/hushbin.js");

async function load(name: string): Promise<Glue> {
  vi.resetModules();
  const glue = await import("../wasm/hushbin.js");
  const bytes = await readFile(new URL(`../wasm/${name}.wasm`, import.meta.url));
  await glue.default({ module_or_path: await WebAssembly.compile(bytes) });
  return glue;
}

const MEANS: Task = {
  ...RATINGS,
  id: "means",
  mechanism: { name: "coco", rule: "strongest", favoured: 2, hashing: "balanced", buckets: 8 },
};
const SEVERAL_PARTS: readonly string[] = ["cross", "together"];
const HEAVIEST = {
  name: "collision",
  rule: "heaviest",
  favoured: 3,
  hashing: "independent",
  buckets: 20,
} as const;
const CLIPPED = {
  name: "hash-bin",
  level: "user",
  clip: 0.75,
  noise: "two-point",
  hashing: "balanced",
  bins: 1,
  grid: 256,
} as const;
const CLIPPED_RATINGS = { ...RATINGS, mechanism: CLIPPED };
/** Questions with a single part, which the smaller module supports. */
const ASKED: Task = {
  ...SURVEY,
  questions: SURVEY.questions.filter(
    ({ kind, mechanism }) => !SEVERAL_PARTS.includes(kind) && mechanism.name !== "window",
  ),
};
const MIXED: Task = {
  ...ASKED,
  questions: [
    ...ASKED.questions,
    { name: "stars", kind: "ratings", items: 9, sparsity: 3, value: "real", mechanism: CLIPPED },
  ],
};
/** Tasks with ratings. The test vectors cover reports of the survey. */
const RATED: readonly Task[] = [
  SETTINGS,
  { ...RATINGS, mechanism: HEAVIEST },
  { ...PLUGINS, mechanism: HEAVIEST },
];

let smaller: Glue;
let complete: Glue;

beforeAll(async () => {
  smaller = await load("collision");
  complete = await load("hushbin");
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Returns a call's result, or the error code that it throws. */
function outcome<T>(call: () => T): T | string {
  try {
    return call();
  } catch (code) {
    const names: Readonly<Record<number, string>> = CORE_CODES;
    // Anything but an error code is a trap.
    return names[code as number] ?? `no code: ${code}`;
  }
}

/** Returns the fingerprint of a task's bytes, or the error code. */
const taskOf = (glue: Glue, bytes: Uint8Array) =>
  outcome(() => {
    const randomizer = new glue.Randomizer(bytes);
    const fingerprint = hex(randomizer.upload_header(1).subarray(1, FINGERPRINT_END));
    randomizer.free();
    expect(hex(glue.digest(bytes))).toBe(fingerprint);
    return fingerprint;
  });

const named = (tasks: readonly Task[]) => tasks.map((task) => [task.id, task] as const);

it.each(named([...RATED, ASKED]))(
  "take the same bytes for the same task, or refuse them alike: %s",
  (_, task) => {
    const bytes = canonicalBytes(task);
    const found = new Set<string>();
    const compare = (changed: Uint8Array) => {
      const made = taskOf(smaller, changed);
      // Tasks that the smaller module lacks are left to the complete one.
      if (made !== "unknown-mechanism") {
        expect(taskOf(complete, changed)).toBe(made);
      }
      found.add(made);
    };
    compare(bytes);
    bytes.forEach((byte, at) => {
      compare(bytes.subarray(0, at));
      for (const other of [byte ^ 1, byte ^ 0x40, 0xff]) {
        const changed = Uint8Array.from(bytes);
        changed[at] = other;
        compare(changed);
      }
    });
    // Some changed bytes are valid tasks; the rest are invalid in different ways.
    const codes = [...found].filter((made) => !/^[0-9a-f]{32}$/.test(made));
    expect(found.size - codes.length).toBeGreaterThan(10);
    const some = ["malformed", "out-of-range", "unknown-mechanism"];
    expect(codes).toEqual(expect.arrayContaining(some));
    // Ids are checked by the package.
    expect(codes).not.toContain("task-id");
    expect(codes.join()).not.toContain("no code");
  },
);

it.each(named(RATED))("report and refuse alike from the same seed: %s", (_, task) => {
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    (array as unknown as Uint8Array).fill(7);
    return array;
  });
  const randomizers = [smaller, complete].map((glue) => new glue.Randomizer(canonicalBytes(task)));
  const found = new Set<string>();
  for (let round = 0; round < 300; round += 1) {
    // Includes numbers of items and values that differ, unknown items, and repeated ones.
    const items = Uint32Array.from({ length: round % 8 }, (_, at) => (at * 3 + round) % 41);
    const values = new Float64Array(items.length + Number(round % 13 === 12));
    values.fill([1, -1, 1, 0.5, -1][round % 5] ?? 0);
    const [one, other] = randomizers.map((randomizer) =>
      outcome(() => {
        const report = hex(randomizer.randomize(Uint32Array.of(values.length), items, values));
        return `${report} ${randomizer.sampled_down()} ${hex(randomizer.upload_header(1))}`;
      }),
    );
    expect(other).toBe(one);
    found.add(String(one));
  }
  expect(found.size).toBeGreaterThan(20);
  expect([...found]).toEqual(expect.arrayContaining(["combination"]));
  expect([...found].join()).not.toContain("no code");
});

it("only one knows further mechanisms and kinds, and the other says so", () => {
  for (const task of [RATINGS, MEANS, CLIPPED_RATINGS, SURVEY, MIXED]) {
    const bytes = canonicalBytes(task);
    expect(taskOf(smaller, bytes)).toBe("unknown-mechanism");
    expect(taskOf(complete, bytes)).toMatch(/^[0-9a-f]{32}$/);
  }
});
