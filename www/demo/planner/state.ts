// What is set on the page, as it stands in the URL, and the question that it is.

import type { Question } from "../shared/analysis.js";

/** The choices, each from a few. */
export const CHOICES = {
  solve: ["error", "people", "epsilon"],
  budget: ["local", "central"],
  goal: ["error", "smallest"],
  objective: ["mean", "frequency", "nonmissing", "both"],
  level: ["user", "event"],
  value: ["sign", "real"],
  domain: ["closed", "open"],
} as const;

/** The numbers; NaN where what was typed is none. */
export const NUMBERS = [
  "items",
  "sparsity",
  "people",
  "people_per_day",
  "epsilon",
  "cap",
  "central_epsilon",
  "delta",
  "standard_error",
  "smallest",
  "honest_fraction",
] as const;

export type ChoiceName = keyof typeof CHOICES;
export type NumberName = (typeof NUMBERS)[number];

export type State = { readonly [Name in ChoiceName]: (typeof CHOICES)[Name][number] } & {
  readonly [Name in NumberName]: number;
};

export const DEFAULTS: State = {
  solve: "error",
  budget: "local",
  goal: "error",
  objective: "mean",
  level: "user",
  value: "sign",
  domain: "closed",
  items: 100,
  sparsity: 5,
  people: 100_000,
  people_per_day: 5000,
  epsilon: 1,
  cap: 4,
  central_epsilon: 0.1,
  delta: 1e-8,
  standard_error: 0.01,
  smallest: 0.05,
  honest_fraction: 1,
};

/** How many people a day brings, where that is not known, in a URL. */
const UNKNOWN = "unknown";

/** What a plan's URL ends in, so that it can be shared. */
export function fragmentOf(state: State): string {
  const words = (Object.keys(CHOICES) as ChoiceName[]).map((name) => [name, state[name]]);
  const numbers = NUMBERS.flatMap((name) => {
    if (Number.isFinite(state[name])) return [[name, String(state[name])]];
    return name === "people_per_day" ? [[name, UNKNOWN]] : [];
  });
  return new URLSearchParams([...words, ...numbers]).toString();
}

/** The state in a fragment; what it leaves out or misspells is the default. */
export function stateOf(fragment: string): State {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const state: Record<string, string | number> = { ...DEFAULTS };
  for (const [name, words] of Object.entries(CHOICES)) {
    const word = given.get(name);
    if (word !== null && (words as readonly string[]).includes(word)) state[name] = word;
  }
  for (const name of NUMBERS) {
    const text = given.get(name)?.trim();
    const number = Number(text);
    if (text && Number.isFinite(number)) state[name] = number;
    else if (name === "people_per_day" && text === UNKNOWN) state[name] = Number.NaN;
  }
  return state as unknown as State;
}

/** Which controls matter; the others are not shown and not asked about. */
export function relevant(state: State): Set<NumberName | ChoiceName> {
  const { solve, budget, goal, domain } = state;
  const names: (NumberName | ChoiceName)[] = ["solve", "objective", "level", "value", "domain"];
  names.push("sparsity", "people_per_day", "delta", "honest_fraction");
  if (domain === "closed") names.push("items");
  if (solve !== "people") names.push("people");
  if (solve !== "epsilon") {
    names.push("budget");
    if (budget === "local") names.push("epsilon");
    else names.push("central_epsilon", "cap");
  }
  if (solve !== "error") names.push("goal", goal === "error" ? "standard_error" : "smallest");
  return new Set(names);
}

/** Of these there are only whole ones. */
export const WHOLE: ReadonlySet<NumberName> = new Set(["items", "sparsity", "people"]);

/** What is asked about and cannot be: no number, or none that is whole. */
export function unusable(state: State): Map<NumberName, string> {
  const asked = relevant(state);
  const found = new Map<NumberName, string>();
  for (const name of NUMBERS) {
    const value = state[name];
    // How many people a day brings may be unknown.
    if (!asked.has(name) || (name === "people_per_day" && Number.isNaN(value))) continue;
    if (!Number.isFinite(value)) found.set(name, "Expected a number.");
    else if (WHOLE.has(name) && !(Number.isSafeInteger(value) && value >= 0))
      found.set(name, "Expected a whole number.");
  }
  return found;
}

/** The question that is asked. */
export function questionOf(state: State): Question {
  const asked = relevant(state);
  const { objective, domain } = state;
  return {
    items: domain === "open" ? "open" : state.items,
    sparsity: state.sparsity,
    value: state.value,
    objective: objective === "both" ? { mean: 1, frequency: 1 } : objective,
    level: state.level,
    delta: state.delta,
    honest_fraction: state.honest_fraction,
    ...(Number.isFinite(state.people_per_day) && { people_per_day: state.people_per_day }),
    ...(asked.has("people") && { people: state.people }),
    ...(asked.has("epsilon") && { epsilon: state.epsilon }),
    ...(asked.has("central_epsilon") && {
      central_epsilon: state.central_epsilon,
      epsilon: state.cap,
    }),
    ...(asked.has("standard_error") && { standard_error: state.standard_error }),
    ...(asked.has("smallest") && { smallest: state.smallest }),
  };
}

/** The control that an error about this field of a question belongs to. */
export function controlOf(field: string | undefined, state: State): NumberName | undefined {
  const name = field === "epsilon" && !relevant(state).has("epsilon") ? "cap" : field;
  const asked = relevant(state);
  return NUMBERS.find((number) => number === name && asked.has(number));
}
