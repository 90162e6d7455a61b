/**
 * Eight questions of one task, answered by fifty thousand people through the package in headless
 * Chromium. The collector's intervals contain the truth.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./harness.js";

const PEOPLE = 50_000;
/** Confidence per question: an interval misses in one of a hundred thousand runs. */
const CONFIDENCE = 0.99999;

const THEMES = ["dark", "light", "system"];
const LAYOUT = [
  { name: "width", min: 0, max: 4000, unit: "px" },
  { name: "height", min: 0, max: 2000, unit: "px" },
  { name: "scale", min: 0.5, max: 4 },
];

/** The task as people write it, with open parameters. */
const SURVEY = {
  id: "survey",
  epsilon: 2,
  people: PEOPLE,
  questions: [
    { name: "theme", kind: "choice", options: THEMES },
    { name: "plan", kind: "choice", options: 12 },
    { name: "beta", kind: "flag" },
    { name: "features", kind: "set", options: 20, sparsity: 3 },
    { name: "rating", kind: "number", min: 1, max: 5 },
    {
      name: "loadMs",
      kind: "number",
      min: 50,
      max: 60_000,
      unit: "ms",
      want: "quantiles",
      spacing: "logarithmic",
    },
    { name: "opinions", kind: "ratings", items: 6, sparsity: 2, value: "sign" },
    { name: "layout", kind: "numbers", of: LAYOUT },
  ],
};

// A type alias has an implicit index signature; an interface has none.
type Person = {
  readonly theme: string;
  readonly plan: number;
  readonly beta: boolean;
  readonly features: readonly number[];
  readonly rating: number;
  readonly loadMs: number;
  readonly opinions: Readonly<Record<string, number>>;
  readonly layout: Readonly<Record<string, number>>;
};

/** Returns the same person in every run, with independent answers. */
function person(index: number): Person {
  // Evenly spread values from 0 to 1, in another order for each question.
  const part = (step: number) => (((index * step) % PEOPLE) + 0.5) / PEOPLE;
  const features = [part(1009), part(2003), part(3001)].map((p) => Math.floor(20 * p ** 2));
  return {
    theme: THEMES[Math.floor(3 * part(7) ** 2)] ?? "",
    plan: Math.floor(12 * part(11) ** 3),
    beta: part(13) < 0.2,
    features: [...new Set(features)],
    rating: 1 + 4 * Math.sqrt(part(17)),
    loadMs: 300 * 20 ** part(19),
    opinions: { [Math.floor(6 * part(23))]: part(29) < 0.7 ? 1 : -1 },
    layout: { width: 4000 * part(31), height: 2000 * part(37) ** 2, scale: 0.5 + part(41) },
  };
}

interface Bars {
  readonly estimate: number;
  readonly simultaneous_interval: readonly [number, number];
}

interface Answer {
  readonly reports: number;
  readonly estimates: readonly {
    readonly item: unknown;
    readonly share?: Bars;
    readonly mean?: Bars;
  }[];
  readonly number?: {
    readonly mean?: Bars;
    readonly distribution?: readonly (Bars & { readonly below: number })[];
    readonly quantiles?: readonly {
      readonly quantile: number;
      readonly interval: readonly [number, number];
    }[];
  };
}

let world: World;
const people = Array.from({ length: PEOPLE }, (_, index) => person(index));

const share = (has: (person: Person) => boolean) => people.filter(has).length / PEOPLE;
const mean = (of: (person: Person) => number) =>
  people.reduce((sum, person) => sum + of(person), 0) / PEOPLE;

async function asked(question: string): Promise<Answer> {
  const query = `question=${question}&confidence=${CONFIDENCE}`;
  return (await world.estimates("survey", query)) as unknown as Answer;
}

function holds(what: string, bars: Bars | undefined, truth: number): void {
  const [low, high] = bars?.simultaneous_interval ?? [1, 0];
  expect(low, `${what}: ${truth}`).toBeLessThanOrEqual(truth);
  expect(high, `${what}: ${truth}`).toBeGreaterThanOrEqual(truth);
}

beforeAll(async () => {
  world = await World.start(SURVEY);
  await world.reportAll(SURVEY.id, people);
});
afterAll(() => world?.stop());

it("every report answers one question", async () => {
  const answers = await Promise.all(SURVEY.questions.map(({ name }) => asked(name)));
  const reports = answers.map((answer) => answer.reports);
  expect(reports.reduce((sum, of) => sum + of, 0)).toBe(PEOPLE);
  expect(Math.min(...reports)).toBeGreaterThan(0);
});

it("choices and flags are answered in shares", async () => {
  for (const { item, share: bars } of (await asked("theme")).estimates) {
    const truth = share((person) => person.theme === item);
    holds(`theme ${item}`, bars, truth);
  }
  for (const { item, share: bars } of (await asked("plan")).estimates) {
    const truth = share((person) => person.plan === item);
    holds(`plan ${item}`, bars, truth);
  }
  for (const { item, share: bars } of (await asked("beta")).estimates) {
    const truth = share((person) => person.beta === (item === "yes"));
    holds(`beta ${item}`, bars, truth);
  }
});

it("sets are answered in shares", async () => {
  for (const { item, share: bars } of (await asked("features")).estimates) {
    const truth = share((person) => person.features.includes(Number(item)));
    holds(`feature ${item}`, bars, truth);
  }
});

it("numbers are answered in their unit", async () => {
  const { number: rating } = await asked("rating");
  const truth = mean((person) => person.rating);
  holds("rating", rating?.mean, truth);
  const { number: load } = await asked("loadMs");
  expect(load?.distribution).toHaveLength(63);
  for (const below of load?.distribution ?? []) {
    const truth = share((person) => person.loadMs < below.below);
    holds(`below ${below.below}`, below, truth);
  }
  const times = people.map(({ loadMs }) => loadMs).sort((a, b) => a - b);
  for (const { quantile, interval } of load?.quantiles ?? []) {
    const time = times[Math.floor(quantile * PEOPLE)] ?? Number.NaN;
    expect(interval[0], `quantile ${quantile}`).toBeLessThanOrEqual(time);
    expect(interval[1], `quantile ${quantile}`).toBeGreaterThanOrEqual(time);
  }
});

it("several numbers are answered each in its unit", async () => {
  const { estimates } = await asked("layout");
  expect(estimates.map(({ item }) => item)).toEqual(LAYOUT.map(({ name }) => name));
  for (const { item, mean: bars } of estimates) {
    const truth = mean((person) => person.layout[String(item)] ?? Number.NaN);
    holds(String(item), bars, truth);
  }
});

it("ratings are answered in means", async () => {
  for (const { item, mean: bars } of (await asked("opinions")).estimates) {
    const truth = mean((person) => person.opinions[String(item)] ?? 0);
    holds(`opinion ${item}`, bars, truth);
  }
});
