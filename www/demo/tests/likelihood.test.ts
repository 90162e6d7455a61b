import { describe, expect, it } from "vitest";
import {
  type CocoMechanism,
  type CollisionMechanism,
  createRandomizer,
  type HashBinMechanism,
  type Mechanism,
} from "../../client/index.js";
import { dissect } from "../story/bytes.js";
import type { NamedTask } from "../story/collector.js";
import { belief, posterior } from "../story/likelihood.js";
import { Coco } from "../story/mechanism/coco.js";
import { Collision } from "../story/mechanism/collision.js";
import { favouredChances } from "../story/mechanism/favoured.js";
import { HashBinEvent, HashBinUser } from "../story/mechanism/hash-bin.js";
import type { Answers, Explained } from "../story/mechanism/kind.js";

const items = ["a", "b", "c", "d"];
const shape = { hashing: "balanced", buckets: 6 } as const;

function taskWith(mechanism: Mechanism): NamedTask {
  return { id: "likelihood-test", items, sparsity: 3, epsilon: 2, value: "sign", mechanism };
}

const COLLISIONS: readonly CollisionMechanism[] = [
  { name: "collision", rule: "heaviest", favoured: 2, ...shape },
  { name: "collision", rule: "heaviest", favoured: 4, hashing: "independent", buckets: 5 },
  { name: "collision", rule: "occupied", hashing: "balanced", buckets: 5 },
];
const COCOS: readonly CocoMechanism[] = [
  { name: "coco", rule: "strongest", favoured: 2, ...shape },
  { name: "coco", rule: "strongest", favoured: 1, hashing: "balanced", buckets: 2 },
  { name: "coco", rule: "strongest", favoured: 3, hashing: "independent", buckets: 8 },
];
const USER: HashBinMechanism = {
  name: "hash-bin",
  level: "user",
  clip: 1.5,
  noise: "two-point",
  hashing: "balanced",
  bins: 1,
  grid: 1024,
};
const EVENT: HashBinMechanism = {
  name: "hash-bin",
  level: "event",
  hashing: "balanced",
  bins: 3,
  grid: 64,
};

const heaviest = taskWith(COLLISIONS[0] as CollisionMechanism);
const strongest = taskWith(COCOS[0] as CocoMechanism);

interface Case {
  readonly name: string;
  readonly task: NamedTask;
  readonly explained: Explained;
  /** All that can be reported. */
  readonly responses: readonly number[];
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => index);

const CASES: readonly Case[] = [
  ...COLLISIONS.map((mechanism) => ({
    name: `collision, ${mechanism.rule}, ${mechanism.hashing}`,
    task: taskWith(mechanism),
    explained: new Collision(taskWith(mechanism)),
    responses: numbered(mechanism.buckets),
  })),
  ...COCOS.map((mechanism) => ({
    name: `coco, ${mechanism.buckets} buckets, ${mechanism.hashing}`,
    task: taskWith(mechanism),
    explained: new Coco(taskWith(mechanism)),
    responses: numbered(mechanism.buckets),
  })),
  {
    name: "hash-bin, user",
    task: taskWith(USER),
    explained: new HashBinUser(taskWith(USER)),
    responses: [1, -1],
  },
];

const answers: Answers = { a: 1, c: -1 };
const INPUTS: readonly Answers[] = [answers, {}, { a: -1, b: 1, d: 1 }, { b: -1 }];

/** The probability of every response. */
function distribution({ explained, responses }: Case, input: Answers, seed: bigint): number[] {
  return responses.map((response) => explained.probability(input, { seed, response: [response] }));
}

describe("what answers become", () => {
  it("numbers elements as the core does and pads to the sparsity", () => {
    const found = new Collision(heaviest).elements(answers);
    expect(found.map(({ element }) => element)).toEqual([0, 5, 8]);
    expect(found.map(({ entry }) => entry?.index ?? null)).toEqual([0, 2, null]);
    const pushes = new Coco(strongest).pushes(answers, 5n);
    expect(pushes.map(({ entry }) => entry?.index ?? null)).toEqual([0, 2, null]);
    const contrary = new Coco(strongest).pushes({ a: -1, c: 1 }, 5n);
    expect(contrary.map(({ side }) => side)).toEqual(pushes.map(({ side }) => 0 - side));
  });

  it("is refused for another mechanism", () => {
    expect(() => new Collision(strongest)).toThrow(/expected collision/);
    expect(() => new Coco(heaviest)).toThrow(/expected to use coco/);
    expect(() => new HashBinEvent(taskWith(USER))).toThrow(/at level event/);
    expect(() => new HashBinUser(taskWith({ ...USER, noise: "laplace" }))).toThrow(/two-point/);
  });
});

describe("probabilities of a report", () => {
  it("shares ties among the favoured", () => {
    expect(favouredChances([3, 1, 1, 0, 1], 2)).toEqual([1, 1 / 3, 1 / 3, 0, 1 / 3]);
    expect(favouredChances([0, -0], 1)).toEqual([0.5, 0.5]);
  });

  it.each(CASES)("sum to one and stay within exp(ε) of each other ($name)", (known) => {
    const bound = Math.exp(known.task.epsilon) * (1 + 1e-12);
    for (let seed = 0n; seed < 40n; seed += 1n) {
      const tables = INPUTS.map((input) => distribution(known, input, seed));
      for (const one of tables) {
        expect(one.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
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
  it.each(CASES)("are those of the real randomiser ($name)", async (known) => {
    const { task, explained } = known;
    const randomizer = await createRandomizer({ task });
    const draws = 5000;
    let sum = 0;
    let squares = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const report = dissect(randomizer.upload(randomizer.randomize(answers), 1), explained);
      const expected = distribution(known, answers, report.seed).reduce((e, p) => e + p * p, 0);
      const surplus = explained.probability(answers, report) - expected;
      sum += surplus;
      squares += surplus * surplus;
    }
    randomizer.free();
    // Five standard errors: chance alone goes further once in 10⁶ runs.
    expect(Math.abs(sum)).toBeLessThan(5 * Math.sqrt(squares));
    expect(squares / draws).toBeGreaterThan(1e-5);
  });
});

describe("noisy bins", () => {
  const task = taskWith(EVENT);
  const explained = new HashBinEvent(task);
  const { grid } = EVENT;

  it("have probabilities that sum to one", () => {
    const one = new HashBinEvent(taskWith({ ...EVENT, bins: 1 }));
    let sum = 0;
    for (let steps = -40 * grid; steps <= 40 * grid; steps += 1) {
      sum += one.probability(answers, { seed: 3n, response: [steps] });
    }
    expect(sum).toBeCloseTo(1, 12);
  });

  it("stay within exp(ε) for one answer, and exp(kε) for k of them", () => {
    const flipped: readonly Answers[] = [{ a: -1, c: -1 }, { a: 1 }, { a: 1, b: 1, c: -1 }];
    const both: Answers = { a: -1, c: 1 };
    for (let seed = 0n; seed < 100n; seed += 1n) {
      const response = [-3, 0, 5].map((bin) => bin * grid + Number(seed));
      const report = { seed, response };
      const ratio = (input: Answers) =>
        Math.abs(
          Math.log(explained.probability(answers, report) / explained.probability(input, report)),
        );
      for (const input of flipped) expect(ratio(input)).toBeLessThanOrEqual(task.epsilon + 1e-9);
      expect(ratio(both)).toBeLessThanOrEqual(2 * task.epsilon + 1e-9);
    }
  });

  // At ε = 8 the noise has scale 1/4: sums in other bins or of other signs than
  // the core's would be off by whole numbers.
  it("centre on the sums of the real randomiser", async () => {
    const loud = { ...task, epsilon: 8 };
    const page = new HashBinEvent(loud);
    const randomizer = await createRandomizer({ task: loud });
    const draws = 4000;
    let off = 0;
    for (let draw = 0; draw < draws; draw += 1) {
      const report = dissect(randomizer.upload(randomizer.randomize(answers), 1), page);
      page.sums(answers, report.seed).forEach((sum, bin) => {
        off += Math.abs((report.response[bin] ?? 0) / grid - sum);
      });
    }
    randomizer.free();
    // |noise| has mean and standard deviation 1/4, up to the grid; six standard
    // errors of the mean over 12,000 bins are 0.014.
    expect(Math.abs(off / (draws * EVENT.bins) - 0.25)).toBeLessThan(0.014);
  });
});

describe("an observer's belief", () => {
  it.each(CASES)("moves by the likelihood ratio and never past the bound ($name)", (known) => {
    const { task, explained } = known;
    for (let seed = 0n; seed < 40n; seed += 1n) {
      for (const response of known.responses) {
        const report = { seed, response: [response] };
        const found = belief(explained, task.epsilon, answers, report, "a", 1, 0.3);
        expect(found.after).toBeGreaterThanOrEqual(found.least - 1e-12);
        expect(found.after).toBeLessThanOrEqual(found.most + 1e-12);
        const contrary =
          (explained.probability({ ...answers, a: -1 }, report) +
            explained.probability({ c: -1 }, report)) /
          2;
        expect(found.ratio).toBeCloseTo(explained.probability(answers, report) / contrary, 12);
      }
    }
  });

  it("follows Bayes' rule", () => {
    expect(posterior(0.5, 1)).toBe(0.5);
    expect(posterior(0.5, 3)).toBeCloseTo(0.75, 12);
    expect(posterior(0.2, 4)).toBeCloseTo(0.5, 12);
  });
});
