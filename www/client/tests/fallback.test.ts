/** Compares the core in JavaScript with the module: same bytes for all tasks and answers. */

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Question, Randomizer, Task } from "../index.js";
import type * as Slim from "../slim.js";

const read = (path: string) => readFileSync(new URL(path, import.meta.url));

interface Case {
  readonly given: { readonly task?: Task };
  readonly outcome: { readonly task?: Task };
}

/** Tasks of every mechanism and every kind of question, from the test vectors. */
const TASKS = ["collision", "coco", "hash-bin", "questions"].flatMap((name) => {
  const cases: readonly Case[] = JSON.parse(read(`../../../tests/vectors/${name}.json`).toString());
  return cases.map(({ given, outcome }) => {
    const task = given.task !== undefined && "questions" in given.task ? given.task : outcome.task;
    return [`${name}, ${task?.id}`, task as Task] as const;
  });
});

/**
 * Returns whether the core in JavaScript needs about a tenth of a second for a report of a task.
 */
const isLong = ({ mechanism }: { mechanism?: { buckets?: number } }) =>
  (mechanism?.buckets ?? 0) > 100_000;

const INPUTS = 10_000;
const LONG_ROUNDS = 3;
const long = TASKS.filter(([, task]) => isLong(task as never)).length;
const ROUNDS = Math.ceil((INPUTS - long * LONG_ROUNDS) / (TASKS.length - long));
const roundsOf = (task: Task) => (isLong(task as never) ? LONG_ROUNDS : ROUNDS);

/** Loads a fresh copy of the package with the given core. */
async function startedFrom(core: Slim.WasmSource): Promise<typeof Slim> {
  vi.resetModules();
  const slim = await import("../slim.js");
  await slim.initialize(core);
  return slim;
}

let compiled: typeof Slim;
let inJavaScript: typeof Slim;

beforeAll(async () => {
  compiled = await startedFrom(read("../wasm/hushbin.wasm"));
  inJavaScript = await startedFrom((await import("../fallback.js")).fallback);
});

/** Returns a generator of numbers below 2³² from a seed: Marsaglia's xorshift. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

type Below = (bound: number) => number;

/** Returns the names of items or options, or a few if names are arbitrary. */
function namesOf(listed: readonly string[] | number | "open"): readonly (string | number)[] {
  if (listed === "open") {
    return Array.from({ length: 50 }, (_, at) => `name ${at} Ü\u{1f600}`);
  }
  if (typeof listed !== "number") {
    return listed;
  }
  const length = Math.min(listed, 1000);
  return Array.from({ length }, (_, at) => at * Math.floor(listed / length));
}

/** Returns a random subset of at most `most` elements. */
function some<T>(listed: readonly T[], most: number, below: Below): T[] {
  const rest = [...listed];
  const count = below(Math.min(most, rest.length) + 1);
  return Array.from({ length: count }, () => rest.splice(below(rest.length), 1)[0] as T);
}

const pick = <T>(listed: readonly T[], below: Below) => listed[below(listed.length)] as T;

type Part = Pick<Question, "kind"> & Record<string, unknown>;

/** Returns a random answer to a question, including values at and beyond the limits. */
function answerTo(question: Part, below: Below): unknown {
  const { kind, options, items, of } = question as never as {
    kind: Question["kind"];
    options: readonly string[];
    items: readonly string[];
    of: readonly (Part & { name: string })[];
  };
  switch (kind) {
    case "flag":
      return below(2) === 1;
    case "choice":
      return pick(namesOf(options), below);
    case "set":
      return some(namesOf(options), 6, below);
    case "text":
      return some([..."aäßéz\u{1f600}漢 "], 8, below).join("");
    case "number": {
      const { min, max, edges } = question as never as Record<string, number & number[]>;
      const [first, last] = edges === undefined ? [min, max] : [edges[0], edges.at(-1)];
      return Number(first) + (Number(last) - Number(first)) * (below(1200) / 1000 - 0.1);
    }
    case "numbers":
    case "cross":
    case "together": {
      const parts = of.map((part) => [
        part.name,
        answerTo({ ...part, kind: part.kind ?? "number" }, below),
      ]);
      return Object.fromEntries(parts);
    }
    case "ratings": {
      const rated = some(namesOf(items), 12, below);
      const real = question.value === "real";
      return new Map(
        rated.map((name) => [
          String(name),
          real ? below(2001) / 1000 - 1 : pick([1, -1, 0], below),
        ]),
      );
    }
  }
}

function inputTo(task: Task, below: Below): unknown {
  return "questions" in task
    ? Object.fromEntries(task.questions.map((each) => [each.name, answerTo(each as never, below)]))
    : answerTo({ ...task, kind: "ratings" }, below);
}

/** Makes a randomiser with each core, from the same seed. */
async function both(task: Task, seed: number): Promise<readonly [Randomizer, Randomizer]> {
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    const next = numbersFrom(seed);
    const bytes = array as unknown as Uint8Array;
    bytes.forEach((_, at) => {
      bytes[at] = next();
    });
    return array;
  });
  return [await compiled.createRandomizer({ task }), await inJavaScript.createRandomizer({ task })];
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

describe("the core in JavaScript", () => {
  it.each(TASKS)("gives the bytes that the module gives: %s", async (_, task) => {
    const seed = 1 + TASKS.findIndex(([, each]) => each === task);
    const [module, script] = await both(task, seed);
    expect(script.fingerprint).toBe(module.fingerprint);
    const next = numbersFrom(2 ** 20 + seed);
    const found = new Set<string>();
    const rounds = roundsOf(task);
    for (let round = 0; round < rounds; round += 1) {
      const input = inputTo(task, (bound) => next() % bound) as never;
      const report = hex(module.randomize(input));
      expect(hex(script.randomize(input))).toBe(report);
      found.add(report);
    }
    expect(hex(script.uploadHeader(rounds))).toBe(hex(module.uploadHeader(rounds)));
    expect(script.sampledDown).toBe(module.sampledDown);
    expect(script.clipped).toBe(module.clipped);
    expect(found.size).toBe(rounds);
  });

  it("is compared over so many inputs, of all mechanisms and kinds", () => {
    const inputs = TASKS.reduce((sum, [, task]) => sum + roundsOf(task), 0);
    expect(inputs).toBeGreaterThanOrEqual(INPUTS);
    const questions = TASKS.flatMap<Pick<Question, "kind" | "mechanism">>(([, task]) =>
      "questions" in task ? [...task.questions] : [{ ...task, kind: "ratings" as const }],
    );
    expect([...new Set(questions.map(({ kind }) => kind))]).toHaveLength(9);
    expect([...new Set(questions.map(({ mechanism }) => mechanism.name))]).toHaveLength(5);
  });

  it("refuses what the module refuses", async () => {
    const [, [, task] = []] = TASKS;
    const wrong = { ...task, mechanism: { ...Object(task).mechanism, buckets: 0 } } as Task;
    const message = async (slim: typeof Slim) =>
      slim.createRandomizer({ task: wrong }).catch((error) => error.message);
    expect(await message(inJavaScript)).toBe(await message(compiled));
    expect(await message(inJavaScript)).toContain("a parameter is out of range");
  });

  it("reports missing randomness as the module does", async () => {
    vi.spyOn(crypto, "getRandomValues").mockImplementation(() => {
      throw new DOMException("no randomness", "OperationError");
    });
    const [, [, task] = []] = TASKS;
    for (const slim of [compiled, inJavaScript]) {
      await expect(slim.createRandomizer({ task: task as Task })).rejects.toMatchObject({
        code: "no-entropy",
      });
    }
  });

  it("is started afresh after a trap", async () => {
    const [, [, task] = []] = TASKS;
    const randomizer = await inJavaScript.createRandomizer({ task: task as Task });
    const endless = { length: 2 ** 30 } as Float64Array;
    const trap = () => randomizer.randomizeMany(Uint32Array.of(1), Uint32Array.of(1), endless);
    expect(trap).toThrow(expect.objectContaining({ code: "wasm" }));
    expect(randomizer.randomize(new Map() as never)).toHaveLength(9);
  });
});

describe("without WebAssembly", () => {
  const [, [, task] = []] = TASKS;

  it.each<[string, () => void]>([
    ["missing", () => vi.stubGlobal("WebAssembly", undefined)],
    [
      "forbidden",
      () => {
        vi.spyOn(WebAssembly, "compile").mockRejectedValue(new EvalError("refused by a policy"));
        vi.spyOn(WebAssembly, "Module").mockImplementation(function refuse() {
          throw new EvalError("refused by a policy");
        } as never);
      },
    ],
  ])("the default entry reports: %s", async (_, forbid) => {
    vi.resetModules();
    forbid();
    const { createRandomizer } = await import("../index.js");
    const randomizer = await createRandomizer({ task: task as Task });
    expect(randomizer.randomize(new Map() as never)).toHaveLength(9);
  });

  it("a slim page reports, and fetches no module", async () => {
    vi.resetModules();
    vi.stubGlobal("WebAssembly", undefined);
    const fetch = vi.fn();
    vi.stubGlobal("fetch", fetch);
    const { createRandomizer, initialize } = await import("../slim.js");
    await initialize("/hushbin.wasm");
    const randomizer = await createRandomizer({ task: task as Task });
    expect(randomizer.randomize(new Map() as never)).toHaveLength(9);
    expect(fetch).not.toHaveBeenCalled();
  });
});
