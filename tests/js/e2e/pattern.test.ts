/**
 * A number in many bins, reported with a pattern through the package in headless Chromium. The
 * intervals of each edge and each quantile contain the truth.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./harness.js";

const PEOPLE = 8000;
const BINS = 128;

const LOADS = {
  id: "loads",
  epsilon: 2,
  people: PEOPLE,
  questions: [
    { name: "loadMs", kind: "number", min: 0, max: BINS * 10, bins: BINS, want: "quantiles" },
  ],
};

/** Most numbers are low, and some are beyond the end. */
const numbers = Array.from(
  { length: PEOPLE },
  (_, person) => 1300 * ((person + 0.5) / PEOPLE) ** 2,
);

const below = (edge: number) => numbers.filter((number) => number < edge).length / PEOPLE;

interface Answer {
  readonly number: {
    readonly distribution: readonly {
      readonly below: number;
      readonly simultaneous_interval: readonly [number, number];
    }[];
    readonly quantiles: readonly {
      readonly quantile: number;
      readonly interval: readonly [number, number];
    }[];
  };
}

let world: World;

beforeAll(async () => {
  world = await World.start(LOADS);
  await world.reportAll(
    LOADS.id,
    numbers.map((loadMs) => ({ loadMs })),
  );
});
afterAll(() => world?.stop());

it("numbers asked by a pattern are estimated at every edge", async () => {
  const inUse = await fetch(`${world.endpoint}/tasks/loads`);
  const { task } = (await inUse.json()) as {
    task: { questions: [{ mechanism: { name: string } }] };
  };
  expect(task.questions[0].mechanism.name).toBe("pattern");
  // An interval misses in one of a hundred thousand runs.
  const answer = await world.estimates("loads", "confidence=0.99999&quantiles=0.5,0.9");
  expect(answer.reports).toBe(PEOPLE);
  const { distribution, quantiles } = (answer as unknown as Answer).number;
  expect(distribution.length).toBe(BINS - 1);
  for (const edge of distribution) {
    expect(edge.simultaneous_interval[0], `${edge.below}`).toBeLessThanOrEqual(below(edge.below));
    expect(edge.simultaneous_interval[1], `${edge.below}`).toBeGreaterThanOrEqual(
      below(edge.below),
    );
  }
  for (const { quantile, interval } of quantiles) {
    const truth = numbers[Math.floor(quantile * PEOPLE)];
    expect(interval[0]).toBeLessThanOrEqual(truth ?? 0);
    expect(interval[1]).toBeGreaterThanOrEqual(truth ?? 0);
  }
});
