import { describe, expect, it } from "vitest";
import {
  AnswerError,
  createRandomizer,
  type Question,
  type ReportInput,
  type Task,
  TaskError,
} from "../index.js";

const QUERY = {
  name: "query",
  kind: "text",
  prefixes: [2, 4, 4],
  mechanism: {
    name: "collision",
    rule: "heaviest",
    favoured: 1,
    hashing: "independent",
    buckets: 8,
  },
} as const satisfies Question;

const asking = (question: object): Task => ({
  id: "queries",
  epsilon: 2,
  questions: [question as Question],
});

const TASK = { id: "queries", epsilon: 2, questions: [QUERY] } as const satisfies Task;

describe("texts", () => {
  it("are typed by the task", () => {
    const input: ReportInput<typeof TASK> = { query: "dark mode" };
    // @ts-expect-error a text is no list
    const wrong: ReportInput<typeof TASK> = { query: ["dark mode"] };
    expect(input).not.toEqual(wrong);
  });

  it("may be empty, long, or of any characters", async () => {
    const randomizer = await createRandomizer({ task: TASK });
    for (const query of ["", "a", "dark mode", "🧱🧱🧱🧱🧱", "\ud800", "x".repeat(10_000)]) {
      expect(randomizer.randomize({ query })).toHaveLength(9);
    }
    expect(randomizer.clipped).toBe(0);
    randomizer.free();
  });

  it.each([undefined, null, 42, true, ["a"], Object("a"), { text: "a" }])(
    "are not taken for %s",
    async (query) => {
      const randomizer = await createRandomizer({ task: TASK });
      const report = () => randomizer.randomize({ query } as never);
      expect(report).toThrow(AnswerError);
      expect(report).toThrow(/query.*a text/);
      randomizer.free();
    },
  );

  it.each<[string, object, string]>([
    ["no prefixes", { prefixes: undefined }, "prefixes"],
    ["a length for prefixes", { prefixes: 4 }, "prefixes"],
    ["a fraction of a character", { prefixes: [1.5] }, "prefixes[0]"],
    ["none", { prefixes: [] }, "out of range"],
    ["a prefix of nothing", { prefixes: [0, 2] }, "out of range"],
    ["prefixes that descend", { prefixes: [4, 2] }, "together"],
    ["options", { options: ["a", "b"] }, '"options"'],
    ["a balanced hash", { mechanism: { ...QUERY.mechanism, hashing: "balanced" } }, "together"],
  ])("are not asked for with %s", async (_, changed, said) => {
    const task = asking({ ...QUERY, ...changed });
    const error = await createRandomizer({ task }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TaskError);
    expect((error as Error).message).toContain(said);
  });

  it("have a fingerprint that depends on every length", async () => {
    const fingerprints = await Promise.all(
      [
        [2, 4, 4],
        [2, 4],
        [2, 3, 4],
        [2, 2, 4],
      ].map(async (prefixes) => {
        const randomizer = await createRandomizer({ task: asking({ ...QUERY, prefixes }) });
        const { fingerprint } = randomizer;
        randomizer.free();
        return fingerprint;
      }),
    );
    expect(new Set(fingerprints).size).toBe(4);
  });
});
