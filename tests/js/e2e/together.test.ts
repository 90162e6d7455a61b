/**
 * Settings asked together, answered by people through the package in headless Chromium. The
 * collector's intervals for each option contain the truth.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./harness.js";

const PEOPLE = 6000;
/** Confidence of all intervals together: one misses in a hundred thousand runs. */
const CONFIDENCE = 0.99999;

const SETTINGS = {
  id: "settings",
  epsilon: 4,
  people: PEOPLE,
  questions: [
    {
      name: "settings",
      kind: "together",
      of: [
        { name: "beta", kind: "flag" },
        { name: "compact", kind: "flag" },
        { name: "theme", kind: "choice", options: ["dark", "light", "system"] },
        { name: "zoom", kind: "choice", options: 4 },
      ],
    },
  ],
};

const OPTIONS = {
  beta: ["no", "yes"],
  compact: ["no", "yes"],
  theme: ["dark", "light", "system"],
  zoom: [0, 1, 2, 3],
};

/** A fifth tries the beta and uses the dark theme; no person has the greatest zoom. */
const person = (index: number) => {
  const beta = index % 5 === 0;
  return {
    beta,
    compact: index % 3 === 0,
    theme: beta ? "dark" : (["light", "system"][index % 2] ?? ""),
    zoom: index % 3,
  };
};

type Person = ReturnType<typeof person>;

interface Answer {
  readonly reports: number;
  readonly estimates: readonly {
    readonly item: Readonly<Record<string, string | number>>;
    readonly share: { readonly simultaneous_interval: readonly [number, number] };
  }[];
}

let world: World;
const people = Array.from({ length: PEOPLE }, (_, index) => person(index));

beforeAll(async () => {
  world = await World.start(SETTINGS);
  await world.reportAll(
    SETTINGS.id,
    people.map((settings) => ({ settings })),
  );
});
afterAll(() => world?.stop());

it("every option of every part is estimated", async () => {
  const query = `question=settings&confidence=${CONFIDENCE}`;
  const answer = (await world.estimates("settings", query)) as unknown as Answer;
  expect(answer.reports).toBe(PEOPLE);
  const options = Object.entries(OPTIONS).flatMap(([name, options]) =>
    options.map((option) => ({ [name]: option })),
  );
  expect(answer.estimates.map(({ item }) => item)).toEqual(options);
  for (const { item, share } of answer.estimates) {
    const [[name, option]] = Object.entries(item) as [[keyof Person, string | number]];
    const given = (own: Person) =>
      typeof own[name] === "boolean" ? own[name] === (option === "yes") : own[name] === option;
    const truth = people.filter(given).length / PEOPLE;
    const [low, high] = share.simultaneous_interval;
    expect(low).toBeLessThanOrEqual(truth);
    expect(high).toBeGreaterThanOrEqual(truth);
    // The interval is narrow enough to distinguish a fifth from a third.
    expect(high - low).toBeLessThan(0.13);
  }
});
