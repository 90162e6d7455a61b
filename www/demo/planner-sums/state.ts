// What is set on the page, as it stands in the URL, and the draft that it is.

import type { Field } from "../planner/fields.js";
import { FIELDS as OTHERS } from "../planner/fields.js";
import { decades, stopsBetween } from "../planner/stops.js";
import type { SumDraft } from "../shared/analysis.js";

export const MEASURES = ["numbers", "vector"] as const;
export type MeasureName = (typeof MEASURES)[number];

/** The numbers; NaN where what was typed is none. */
export const NUMBERS = [
  ...(["count", "min", "max", "dimension", "length"] as const),
  ...(["people", "honest_fraction", "epsilon", "delta"] as const),
] as const;
export type NumberName = (typeof NUMBERS)[number];

export type State = { readonly measure: MeasureName } & Readonly<Record<NumberName, number>>;

export const DEFAULTS: State = {
  measure: "numbers",
  count: 4,
  min: 0,
  max: 10_000,
  dimension: 64,
  length: 1,
  people: 10_000,
  honest_fraction: 0.9,
  epsilon: 1,
  delta: 1e-6,
};

export const FIELDS: Readonly<Record<NumberName, Field>> = {
  count: { ...OTHERS.count, stops: stopsBetween(1, 1024, true) },
  min: OTHERS.min,
  max: OTHERS.max,
  dimension: {
    label: "Dimension",
    unit: "numbers",
    help: "How many numbers the vector has.",
    stops: stopsBetween(1, 512, true),
  },
  length: {
    label: "Length",
    unit: "",
    help: "The greatest Euclidean length; longer vectors are shortened to it.",
    stops: stopsBetween(0.01, 100_000),
  },
  people: {
    label: "People of a batch",
    unit: "people",
    help: "How many a batch has at least, once each; the shuffler keeps back what has fewer.",
    stops: stopsBetween(10, 1_000_000, true),
  },
  honest_fraction: {
    label: "Honest part",
    unit: "of people",
    help: "The share of them whose noise is counted on to hide the others.",
    stops: OTHERS.honest_fraction.stops,
  },
  epsilon: {
    label: "Central ε",
    unit: "",
    help: "The most that the shuffled batch may give away about one person; of a person’s own messages there is no ε.",
    stops: stopsBetween(0.01, 12),
  },
  delta: {
    label: "δ",
    unit: "",
    help: "The probability that this does not hold: far below one in the number of people.",
    stops: decades(-15, -2),
  },
};

/** Controls that matter; the others are not shown and not asked about. */
export function relevant({ measure }: State): ReadonlySet<NumberName> {
  const own = measure === "numbers" ? ["count", "min", "max"] : ["dimension", "length"];
  const others = ["people", "honest_fraction", "epsilon", "delta"];
  return new Set([...own, ...others] as NumberName[]);
}

const WHOLE: ReadonlySet<NumberName> = new Set(["count", "dimension", "people"]);

/** What cannot be asked about, and why. */
export function unusable(state: State): Map<NumberName, string> {
  const found = new Map<NumberName, string>();
  for (const name of relevant(state)) {
    const value = state[name];
    if (!Number.isFinite(value)) found.set(name, "Expected a number.");
    else if (WHOLE.has(name) && !(Number.isSafeInteger(value) && value >= 0))
      found.set(name, "Expected a whole number.");
  }
  return found;
}

/** More numbers than any task has are not written out, to be refused. */
const MOST = 2000;

/** What is asked. */
export function draftOf(state: State): SumDraft {
  const { measure, count, min, max, dimension, length } = state;
  const { people, honest_fraction, epsilon, delta } = state;
  const number = (_: unknown, index: number) => ({ name: `number-${index + 1}`, min, max });
  return {
    id: "planned",
    trust: "shuffler",
    epsilon,
    delta,
    people,
    honest_fraction,
    ...(measure === "numbers"
      ? { numbers: Array.from({ length: Math.min(count, MOST) }, number) }
      : { vector: { items: dimension, length } }),
  };
}

export function fragmentOf(state: State): string {
  const asked = [...relevant(state)].filter((name) => Number.isFinite(state[name]));
  const numbers = asked.map((name) => [name, String(state[name])]);
  return new URLSearchParams([["measure", state.measure], ...numbers]).toString();
}

/** The state in a fragment; what it leaves out or misspells is the default. */
export function stateOf(fragment: string): State {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const numbers = NUMBERS.map((name) => {
    const text = given.get(name)?.trim();
    const number = Number(text);
    return [name, text && Number.isFinite(number) ? number : DEFAULTS[name]] as const;
  });
  const measure = MEASURES.find((name) => name === given.get("measure")) ?? DEFAULTS.measure;
  return { measure, ...(Object.fromEntries(numbers) as Record<NumberName, number>) };
}

/** The control that an error about this field of a draft belongs to. */
export function controlOf(field: string | undefined, state: State): NumberName | undefined {
  const own = SAID[field ?? ""] ?? field;
  return [...relevant(state)].find((name) => name === own);
}

/** Controls of what is called otherwise in errors. */
const SAID: Readonly<Record<string, NumberName>> = {
  "number of coordinates": "count",
  "messages of one person": "people",
  "messages of a batch": "people",
};
