import { describe, expect, it } from "vitest";
import { createRandomizer } from "../../client/index.js";
import { dissect } from "../bytes.js";
import type { NamedTask } from "../collector.js";
import {
  type Answers,
  belief,
  bucketCounts,
  elementsOf,
  favouredChances,
  posterior,
  probabilities,
  probability,
} from "../likelihood.js";

const items = ["a", "b", "c", "d"];

function taskWith(mechanism: Partial<NamedTask["mechanism"]>): NamedTask {
  return {
    id: "likelihood-test",
    items,
    sparsity: 3,
    epsilon: 2,
    value: "sign",
    mechanism: {
      name: "collision",
      rule: "heaviest",
      favoured: 2,
      hashing: "balanced",
      buckets: 5,
      ...mechanism,
    },
  };
}

const { favoured: _, ...withoutFavoured } = taskWith({}).mechanism;
const occupied: NamedTask = {
  ...taskWith({}),
  mechanism: { ...withoutFavoured, rule: "occupied" },
};
const answers: Answers = { a: 1, c: -1 };

describe("what answers become", () => {
  it("numbers elements as the core does and pads to the sparsity", () => {
    const found = elementsOf(taskWith({}), answers);
    expect(found.map(({ element }) => element)).toEqual([0, 5, 8]);
    expect(found.map(({ item }) => item)).toEqual(["a", "c", null]);
  });
});

describe("probabilities of a report", () => {
  it("shares ties among the favoured", () => {
    expect(favouredChances([3, 1, 1, 0, 1], 2)).toEqual([1, 1 / 3, 1 / 3, 0, 1 / 3]);
    expect(favouredChances([0, 0], 1)).toEqual([0.5, 0.5]);
  });

  it.each([
    taskWith({}),
    taskWith({ hashing: "independent" }),
    taskWith({ favoured: 4 }),
    occupied,
  ])("sum to one and stay within exp(ε) of each other, whatever the answers", (task) => {
    const bound = Math.exp(task.epsilon) * (1 + 1e-12);
    for (let seed = 0n; seed < 40n; seed += 1n) {
      const tables = [answers, {}, { a: -1, b: 1, d: 1 } as const].map((input) =>
        probabilities(task, bucketCounts(task, elementsOf(task, input), seed)),
      );
      for (const table of tables) {
        expect(table.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
      }
      for (const one of tables) {
        for (const other of tables) {
          one.forEach((chance, bucket) => {
            expect(chance / (other[bucket] ?? 0)).toBeLessThanOrEqual(bound);
          });
        }
      }
    }
  });

  // The average probability, over real draws, of the bucket that was drawn is
  // the expected sum of squares; a page that computed other probabilities than
  // the randomiser uses would miss it.
  it.each([
    { name: "heaviest", task: taskWith({}) },
    { name: "occupied", task: occupied },
  ])("are those of the real randomiser ($name)", async ({ task }) => {
    const randomizer = await createRandomizer({ task });
    const draws = 20_000;
    let found = 0;
    let expected = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const { seed, bucket } = dissect(randomizer.upload(randomizer.randomize(answers), 1));
      const table = probabilities(task, bucketCounts(task, elementsOf(task, answers), seed));
      found += table[bucket] ?? 0;
      expected += table.reduce((sum, chance) => sum + chance * chance, 0);
    }
    randomizer.free();
    // The standard error is below 0.2 / √draws; six of them.
    expect(Math.abs(found - expected) / draws).toBeLessThan((6 * 0.2) / Math.sqrt(draws));
  });
});

describe("an observer's belief", () => {
  it("moves by the likelihood ratio and never past the bound", () => {
    const task = taskWith({});
    for (let seed = 0n; seed < 60n; seed += 1n) {
      for (let bucket = 0; bucket < 5; bucket += 1) {
        const found = belief(task, answers, { seed, bucket }, "a", 1, 0.3);
        expect(found.after).toBeGreaterThanOrEqual(found.least - 1e-12);
        expect(found.after).toBeLessThanOrEqual(found.most + 1e-12);
        const contrary =
          (probability(task, { ...answers, a: -1 }, seed, bucket) +
            probability(task, { c: -1 }, seed, bucket)) /
          2;
        expect(found.ratio).toBeCloseTo(probability(task, answers, seed, bucket) / contrary, 12);
      }
    }
  });

  it("follows Bayes' rule", () => {
    expect(posterior(0.5, 1)).toBe(0.5);
    expect(posterior(0.5, 3)).toBeCloseTo(0.75, 12);
    expect(posterior(0.2, 4)).toBeCloseTo(0.5, 12);
  });
});
