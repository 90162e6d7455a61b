import { describe, expect, it } from "vitest";
import { createRandomizer, type Task } from "../../client/index.js";
import { betaTail, clopperPearson } from "../story/binomial.js";
import type { NamedTask } from "../story/collector.js";
import { type Audit, audit, choose, evaluate } from "../story/measure.js";
import { Coco } from "../story/mechanism/coco.js";
import { Collision } from "../story/mechanism/collision.js";
import { HashBinEvent, HashBinUser } from "../story/mechanism/hash-bin.js";

describe("the binomial bounds", () => {
  it("have beta tails that are known in closed form", () => {
    // I_x(1, b) = 1 − (1 − x)^b, I_x(a, 1) = x^a, I_½(a, a) = ½.
    for (const x of [0.001, 0.2, 0.5, 0.93]) {
      expect(betaTail(x, 1, 7)).toBeCloseTo(1 - (1 - x) ** 7, 12);
      expect(betaTail(x, 9, 1)).toBeCloseTo(x ** 9, 12);
    }
    for (const a of [1, 3, 50, 25_000]) expect(betaTail(0.5, a, a)).toBeCloseTo(0.5, 9);
    // P(X ≥ 3) for 5 trials of 0.3, summed by hand.
    expect(betaTail(0.3, 3, 3)).toBeCloseTo(0.16308, 12);
  });

  it("are those of Clopper and Pearson", () => {
    // Exact for no hits and for all: 1 − (α/2)^(1/n).
    expect(clopperPearson(0, 10, 0.95)[0]).toBe(0);
    expect(clopperPearson(0, 10, 0.95)[1]).toBeCloseTo(1 - 0.025 ** 0.1, 10);
    expect(clopperPearson(10, 10, 0.95)[0]).toBeCloseTo(0.025 ** 0.1, 10);
    expect(clopperPearson(10, 10, 0.95)[1]).toBe(1);
    // The bounds solve the binomial tails, summed term by term.
    const [low, high] = clopperPearson(4, 20, 0.999);
    const terms = (p: number) => {
      const found = [(1 - p) ** 20];
      for (let k = 0; k < 20; k += 1) {
        found.push(((found[k] ?? 0) * (20 - k) * p) / ((k + 1) * (1 - p)));
      }
      return found;
    };
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
    expect(sum(terms(low).slice(4))).toBeCloseTo(0.0005, 10);
    expect(sum(terms(high).slice(0, 5))).toBeCloseTo(0.0005, 10);
  });

  // From sums in decimals of 60 digits; each bound fails with 0.0005.
  it.each([
    { hits: 5, trials: 1000, bounds: [0.0006335584778436643, 0.01730291723657872] },
    { hits: 400, trials: 1000, bounds: [0.349437350724267, 0.4520884001726938] },
    { hits: 28_000, trials: 100_000, bounds: [0.2753396766624267, 0.2846936005529484] },
    { hits: 3, trials: 150_000, bounds: [9.980318216844769e-7, 9.289010241246436e-5] },
    { hits: 149_990, trials: 150_000, bounds: [0.999831638165933, 0.9999820060680256] },
  ])("are exact for $hits of $trials", ({ hits, trials, bounds }) => {
    clopperPearson(hits, trials, 0.999).forEach((bound, side) => {
      const exact = bounds[side] ?? Number.NaN;
      expect(Math.abs(bound - exact)).toBeLessThan(1e-8 * Math.min(exact, 1 - exact));
    });
  });

  it("narrow as trials grow, around the share", () => {
    const [low, high] = clopperPearson(18_163, 50_000, 0.999);
    const share = 18_163 / 50_000;
    // The normal approximation is good here: 3.2905 standard errors.
    const reach = 3.2905 * Math.sqrt((share * (1 - share)) / 50_000);
    expect(low).toBeCloseTo(share - reach, 4);
    expect(high).toBeCloseTo(share + reach, 4);
  });
});

describe("the event", () => {
  const first = Float64Array.from({ length: 1000 }, (_, i) => (i < 300 ? 2 : 0));
  const second = Float64Array.from({ length: 1000 }, (_, i) => (i < 100 ? 2 : 0));

  it("is what tells the inputs apart best, from either side", () => {
    expect(choose(first, second)).toEqual({ threshold: 2, side: "at-least" });
    const [mirrored, other] = [first.map((score) => -score), second.map((score) => -score)];
    expect(choose(other, mirrored)).toEqual({ threshold: -2, side: "at-most" });
    const event = { threshold: 2, side: "at-least" } as const;
    const found = evaluate(event, first, second, 0.999);
    expect([found.likelier, found.other]).toEqual([
      [300, 1000],
      [100, 1000],
    ]);
    expect(found.empirical_lower_bound).toBeCloseTo(
      Math.log(clopperPearson(300, 1000, 0.999)[0] / clopperPearson(100, 1000, 0.999)[1]),
      12,
    );
    expect(evaluate(event, second, first, 0.999).empirical_lower_bound).toBe(0);
  });
});

const SHAPE = { id: "audit-test", items: ["a", "b", "c", "d"], sparsity: 2, epsilon: 1 } as const;
const COLLISION: NamedTask = {
  ...SHAPE,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 2, hashing: "balanced", buckets: 7 },
};
const COCO: NamedTask = {
  ...SHAPE,
  value: "sign",
  mechanism: { name: "coco", rule: "strongest", favoured: 1, hashing: "balanced", buckets: 2 },
};

const USER: NamedTask = {
  ...SHAPE,
  value: "sign",
  mechanism: {
    name: "hash-bin",
    level: "user",
    clip: 1.5,
    noise: "two-point",
    hashing: "balanced",
    bins: 1,
    grid: 1024,
  },
};
const EVENT: NamedTask = {
  ...SHAPE,
  value: "sign",
  mechanism: { name: "hash-bin", level: "event", hashing: "balanced", bins: 2, grid: 1024 },
};

describe.each([
  { name: "Collision", task: COLLISION, mechanism: new Collision(COLLISION) },
  { name: "CoCo", task: COCO, mechanism: new Coco(COCO) },
  { name: "hash-bin at user level", task: USER, mechanism: new HashBinUser(USER) },
  { name: "hash-bin at event level", task: EVENT, mechanism: new HashBinEvent(EVENT) },
])("an audit of $name", ({ task, mechanism }) => {
  async function measure(epsilon: number, part: Partial<Audit> = {}) {
    const randomizer = await createRandomizer({ task: { ...task, epsilon } as Task });
    const measured = await audit({
      randomizer,
      mechanism,
      items: task.items,
      trials: 10_000,
      confidence: 0.999,
      signal: new AbortController().signal,
      onProgress: () => {},
      ...part,
    });
    randomizer.free();
    return measured;
  }

  // The measured logarithm has a standard error below 0.05, and 0.1 and more is
  // taken off it; with 0.1 of patience chance fails this once in 10⁶ runs.
  it("stays below the ε that is kept, and not far below", async () => {
    const bound = (await measure(task.epsilon))?.empirical_lower_bound ?? Number.NaN;
    expect(bound).toBeLessThan(task.epsilon + 0.1);
    expect(bound).toBeGreaterThan(task.epsilon / 2);
  });

  it("catches reports of twice the budget", async () => {
    const bound = (await measure(2 * task.epsilon))?.empirical_lower_bound ?? Number.NaN;
    expect(bound).toBeGreaterThan(task.epsilon + 0.2);
    expect(bound).toBeLessThan(2 * task.epsilon + 0.1);
  });

  it("reports its progress and can be cancelled", async () => {
    const shares: number[] = [];
    const stopping = new AbortController();
    const measured = await measure(task.epsilon, {
      signal: stopping.signal,
      onProgress: (share) => {
        shares.push(share);
        if (share >= 0.3) stopping.abort();
      },
    });
    expect(measured).toBeNull();
    expect(shares).toEqual([0.05, 0.1, 0.15, 0.2, 0.25, 0.3]);
  });
});
