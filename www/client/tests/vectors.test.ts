/** Byte vectors through the package: what the core made elsewhere, it makes here. */

import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { createRandomizer, type Task } from "../index.js";

/** As in `tests/support/src/byte_vectors.rs`. */
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

describe.each(["collision", "coco", "hash-bin"])("the vectors of %s", (mechanism) => {
  const file = new URL(`../../../tests/vectors/${mechanism}.json`, import.meta.url);
  const cases: readonly Case[] = JSON.parse(readFileSync(file, "utf8"));

  it.each(cases.map((each) => [each.outcome.task.id, each] as const))(
    "hold: %s",
    async (_, { given, outcome }) => {
      // The browser's randomness is the generator's seed, and nothing else is drawn.
      vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
        (array as unknown as Uint8Array).set(Buffer.from(given.generator, "hex"));
        return array;
      });
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
