/** Byte vectors through the package: the same bytes as from the core in Rust. */

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { createRandomizer as Create, QuestionsTask, ReportInput, Task } from "../index.js";

/** The format of `tests/support/src/byte_vectors.rs`. */
interface Case {
  readonly given: {
    readonly generator: string;
    readonly inputs: readonly (readonly (readonly [name: string, value: number])[])[];
  };
  readonly outcome: {
    readonly task: Task;
    readonly fingerprint: string;
    readonly sampled_down: readonly boolean[];
    readonly reports: readonly string[];
    readonly upload: string;
  };
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** The format of `tests/support/src/question_vectors.rs`. */
interface QuestionsCase {
  readonly given: {
    readonly task: QuestionsTask;
    readonly generator: string;
    readonly inputs: readonly ReportInput<QuestionsTask>[];
  };
  readonly outcome: {
    readonly fingerprint: string;
    readonly answered: readonly string[];
    readonly sampled_down: readonly boolean[];
    readonly reports: readonly string[];
    readonly upload: string;
  };
}

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../tests/vectors/${name}.json`, import.meta.url), "utf8"));

/**
 * Makes `crypto.getRandomValues` return the given seed of the core's generator. Nothing else is
 * drawn from it.
 */
function seedBy(generator: string) {
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    (array as unknown as Uint8Array).set(Buffer.from(generator, "hex"));
    return array;
  });
}

const MODULES: [module: string, mechanisms: string[]][] = [
  ["hushbin.wasm", ["collision", "coco", "hash-bin"]],
  ["collision.wasm", ["collision"]],
];

/** Kinds with several parts, which only the complete module has. */
const SEVERAL_PARTS: readonly string[] = ["numbers", "cross", "together"];

type Asked = Pick<QuestionsTask["questions"][number], "mechanism">;

/** Returns whether a module has this mechanism and kind of question. */
function knows(module: string, { mechanism, ...question }: Asked): boolean {
  return (
    module === "hushbin.wasm" ||
    (mechanism.name === "collision" &&
      mechanism.rule === "heaviest" &&
      !("kind" in question && SEVERAL_PARTS.includes(String(question.kind))))
  );
}

describe.each(MODULES)("by %s", (module, mechanisms) => {
  let createRandomizer: typeof Create;

  beforeAll(async () => {
    vi.resetModules();
    const slim = await import("../slim.js");
    await slim.initialize(readFileSync(new URL(`../wasm/${module}`, import.meta.url)));
    createRandomizer = slim.createRandomizer;
  });

  describe.each(mechanisms)("the vectors of %s", (mechanism) => {
    const cases: readonly Case[] = read(mechanism);
    const known = cases.filter(
      ({ outcome: { task } }) => "mechanism" in task && knows(module, task),
    );

    it.each(known.map((each) => [each.outcome.task.id, each] as const))(
      "hold: %s",
      async (_, { given, outcome }) => {
        seedBy(given.generator);
        const randomizer = await createRandomizer({ task: outcome.task });
        expect(randomizer.task).toEqual(outcome.task);
        expect(randomizer.fingerprint).toBe(outcome.fingerprint);
        let sampledDown = 0;
        const reports = given.inputs.map((input, person) => {
          const report = randomizer.randomize(new Map(input));
          sampledDown += Number(outcome.sampled_down[person]);
          expect(randomizer.sampledDown).toBe(sampledDown);
          return report;
        });
        expect(reports.map(hex)).toEqual(outcome.reports);
        const upload = randomizer.upload(Buffer.concat(reports), reports.length);
        expect(hex(upload)).toBe(outcome.upload);
        randomizer.free();
      },
    );
  });

  describe("the vectors of questions", () => {
    const cases: readonly QuestionsCase[] = read("questions");

    it("answer questions of every kind", () => {
      const kinds = cases.flatMap(({ given: { task }, outcome: { answered } }) =>
        task.questions.filter(({ name }) => answered.includes(name)).map(({ kind }) => kind),
      );
      expect([...new Set(kinds)].sort()).toEqual([
        "choice",
        "cross",
        "flag",
        "number",
        "numbers",
        "ratings",
        "set",
        "text",
        "together",
      ]);
    });

    const known = cases.filter(({ given: { task } }) =>
      task.questions.every((question) => knows(module, question)),
    );

    it.each(known.map((each) => [each.given.task.id, each] as const))(
      "hold: %s",
      async (_, { given, outcome }) => {
        seedBy(given.generator);
        const randomizer = await createRandomizer({ task: given.task });
        expect(randomizer.task).toEqual(given.task);
        expect(randomizer.fingerprint).toBe(outcome.fingerprint);
        let sampledDown = 0;
        const reports = given.inputs.map((input, person) => {
          const report = randomizer.randomize(input);
          sampledDown += Number(outcome.sampled_down[person]);
          expect(randomizer.sampledDown).toBe(sampledDown);
          return report;
        });
        expect(reports.map(hex)).toEqual(outcome.reports);
        expect(hex(randomizer.upload(Buffer.concat(reports), reports.length))).toBe(outcome.upload);
        randomizer.free();
      },
    );
  });
});
