/**
 * A cross answered through the package in headless Chromium: the collector's intervals for each row
 * contain the truth.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./harness.js";

const PEOPLE = 8000;
/** Confidence of all intervals of a question together: one misses in a hundred thousand runs. */
const CONFIDENCE = 0.99999;

const VISITS = {
  id: "visits",
  epsilon: 4,
  people: PEOPLE,
  questions: [
    {
      name: "loadByPlan",
      kind: "cross",
      of: [
        { name: "plan", kind: "choice", options: ["free", "pro"] },
        { name: "loadMs", kind: "number", min: 0, max: 1000, unit: "ms" },
      ],
    },
    {
      name: "themeByBeta",
      kind: "cross",
      of: [
        { name: "beta", kind: "flag" },
        { name: "theme", kind: "choice", options: ["dark", "light", "system"] },
      ],
    },
  ],
};

/** A quarter pays and waits half as long. People in the beta use the dark theme. */
const person = (index: number) => {
  const plan = index % 4 === 0 ? "pro" : "free";
  const beta = index % 5 === 0;
  return {
    loadByPlan: { plan, loadMs: (plan === "pro" ? 200 : 400) + (index % 200) },
    themeByBeta: { beta, theme: beta ? "dark" : (["light", "system"][index % 2] ?? "") },
  };
};

interface Held {
  readonly row: string;
  readonly column?: string;
  readonly simultaneous_interval: readonly [number, number];
}

interface Answer {
  readonly reports: number;
  readonly cross: {
    readonly rows: { readonly shares: readonly { item: string; share: Omit<Held, "row"> }[] };
    readonly conditional_means?: readonly Held[];
    readonly conditional_shares?: readonly Held[];
  };
}

let world: World;
const people = Array.from({ length: PEOPLE }, (_, index) => person(index));
type Person = (typeof people)[number];

async function asked(question: string): Promise<Answer> {
  const query = `question=${question}&confidence=${CONFIDENCE}`;
  return (await world.estimates("visits", query)) as unknown as Answer;
}

function holds({ simultaneous_interval: [low, high] }: Omit<Held, "row">, truth: number): void {
  expect(low).toBeLessThanOrEqual(truth);
  expect(high).toBeGreaterThanOrEqual(truth);
}

/** Average over the people of a row. */
function within(row: (own: Person) => boolean, of: (own: Person) => number): number {
  const own = people.filter(row);
  return own.reduce((sum, each) => sum + of(each), 0) / own.length;
}

beforeAll(async () => {
  world = await World.start(VISITS);
  await world.reportAll(VISITS.id, people);
});
afterAll(() => world?.stop());

it("means within rows are in their unit", async () => {
  const { cross } = await asked("loadByPlan");
  for (const { item, share } of cross.rows.shares) {
    holds(share, people.filter((own) => own.loadByPlan.plan === item).length / PEOPLE);
  }
  expect(cross.conditional_means?.map(({ row }) => row)).toEqual(["free", "pro"]);
  for (const mean of cross.conditional_means ?? []) {
    const [low, high] = mean.simultaneous_interval;
    const truth = within(
      ({ loadByPlan }) => loadByPlan.plan === mean.row,
      ({ loadByPlan }) => loadByPlan.loadMs,
    );
    holds(mean, truth);
    // The interval is narrow enough to distinguish the rows.
    expect(high - low).toBeLessThan(200);
  }
});

it("shares within rows are of their people", async () => {
  const { cross } = await asked("themeByBeta");
  expect(cross.conditional_shares).toHaveLength(6);
  for (const share of cross.conditional_shares ?? []) {
    const truth = within(
      ({ themeByBeta }) => themeByBeta.beta === (share.row === "yes"),
      ({ themeByBeta }) => Number(themeByBeta.theme === share.column),
    );
    holds(share, truth);
  }
});
