// The settings of the page, the URL fragment that contains them, and the planner's input that
// is made from them.

import type { AccuracyGoal, SumDraft, Survey } from "../shared/analysis.js";

/** Input of the planner: a survey for local reports, or the draft of a sum task for a shuffler. */
export type PlannerInput = Survey | SumDraft;

/** Options of each choice in the form. */
export const CHOICE_OPTIONS = {
  trust: ["nobody", "shuffler"],
  measure: ["numbers", "vector", "flags", "choice", "set", "number"],
  kind: ["ratings", "flag", "choice", "set", "number", "numbers", "cross", "together", "text"],
  across: ["options", "number"],
  want: ["mean", "histogram", "quantiles"],
  spacing: ["even", "logarithmic"],
  solve: ["error", "people", "epsilon"],
  budget: ["local", "central"],
  goal: ["error", "smallest_frequency"],
  objective: ["mean", "frequency", "nonmissing", "both"],
  level: ["user", "event"],
  value: ["sign", "real"],
  domain: ["closed", "open"],
} as const;

/** Names of the number fields, whose texts {@link parseNumber} parses. */
export const NUMBER_FIELD_NAMES = [
  "items",
  "options",
  "columns",
  "count",
  "dimension",
  "norm",
  "length",
  "sparsity",
  "min",
  "max",
  "bins",
  "quantile",
  "spread",
  "people",
  "people_per_day",
  "epsilon",
  "cap",
  "central_epsilon",
  "delta",
  "standard_error",
  "smallest_frequency",
  "within",
  "margin",
  "honest_fraction",
] as const;

/** Names of the text fields with lists of whole numbers. */
export const LIST_FIELD_NAMES = ["parts"] as const;

export type ChoiceControlName = keyof typeof CHOICE_OPTIONS;
export type NumberFieldName = (typeof NUMBER_FIELD_NAMES)[number];

export type ListFieldName = (typeof LIST_FIELD_NAMES)[number];
/** Name of a text field: a number, or a list of whole numbers. */
export type FieldName = NumberFieldName | ListFieldName;
export type ControlName = ChoiceControlName | FieldName;

export type ParsedQuestionSettings = {
  readonly [Name in ChoiceControlName]: (typeof CHOICE_OPTIONS)[Name][number];
} & {
  readonly [Name in NumberFieldName]: number;
} & { readonly [Name in ListFieldName]: string };

export const DEFAULTS: ParsedQuestionSettings = {
  trust: "nobody",
  measure: "numbers",
  kind: "ratings",
  across: "options",
  want: "mean",
  spacing: "even",
  solve: "error",
  budget: "local",
  goal: "error",
  objective: "mean",
  level: "user",
  value: "sign",
  domain: "closed",
  items: 100,
  options: 10,
  columns: 4,
  parts: "2, 2, 3",
  count: 5,
  dimension: 60,
  norm: 1,
  length: 8,
  sparsity: 5,
  min: 0,
  max: 30,
  bins: 30,
  quantile: 0.5,
  spread: Number.NaN,
  people: 100_000,
  people_per_day: 5000,
  epsilon: 1,
  cap: 4,
  central_epsilon: 0.5,
  delta: 1e-8,
  standard_error: 0.01,
  smallest_frequency: 0.05,
  within: 0.01,
  margin: 0.5,
  honest_fraction: 1,
};

/** Numbers that may be unknown, so that their fields may be empty. */
const OPTIONAL_FIELDS: ReadonlySet<NumberFieldName> = new Set(["people_per_day", "spread"]);

/** Value of an unknown number in a URL. */
const UNKNOWN_NUMBER_IN_URL = "unknown";

const NUMBER_PATTERN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
/** Ambiguous text: 1,000 may be a thousand, or 1. */
const AMBIGUOUS_NUMBER_PATTERN = /^[+-]?[1-9]\d{0,2},\d{3}$/;

/**
 * Parses a typed number, whose decimals follow a point or a comma. Returns NaN for an empty text.
 * Returns infinity for a text that is ambiguous or is not a number.
 */
export function parseNumber(typed: string): number {
  const text = typed.trim().replace("\u2212", "-");
  if (text === "") return Number.NaN;
  const pointed = AMBIGUOUS_NUMBER_PATTERN.test(text) ? text : text.replace(",", ".");
  return NUMBER_PATTERN.test(pointed) ? Number(pointed) : Number.POSITIVE_INFINITY;
}

/** Returns the URL fragment that describes the settings, so that people can share the URL. */
export function settingsToUrlFragment(state: ParsedQuestionSettings): string {
  const words = (Object.keys(CHOICE_OPTIONS) as ChoiceControlName[]).map((name) => [
    name,
    state[name],
  ]);
  const numbers = NUMBER_FIELD_NAMES.flatMap((name) => {
    if (Number.isFinite(state[name])) return [[name, String(state[name])]];
    return OPTIONAL_FIELDS.has(name) ? [[name, UNKNOWN_NUMBER_IN_URL]] : [];
  });
  const lists = LIST_FIELD_NAMES.map((name) => [name, state[name]]);
  return new URLSearchParams([...words, ...numbers, ...lists]).toString();
}

/** Parses the settings of a URL fragment. Missing or invalid settings get their defaults. */
export function parseSettings(fragment: string): ParsedQuestionSettings {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const state: Record<string, string | number> = { ...DEFAULTS };
  for (const [name, words] of Object.entries(CHOICE_OPTIONS)) {
    const word = given.get(name);
    if (word !== null && (words as readonly string[]).includes(word)) state[name] = word;
  }
  for (const name of NUMBER_FIELD_NAMES) {
    const text = given.get(name) ?? "";
    const number = parseNumber(text);
    if (Number.isFinite(number)) state[name] = number;
    else if (OPTIONAL_FIELDS.has(name) && text === UNKNOWN_NUMBER_IN_URL) state[name] = Number.NaN;
  }
  for (const name of LIST_FIELD_NAMES) state[name] = given.get(name) ?? DEFAULTS[name];
  return state as unknown as ParsedQuestionSettings;
}

/** Parses whole numbers, separated by commas or spaces. Returns null for any other text. */
export function parseCounts(list: string): number[] | null {
  const words = list.split(/[\s,]+/).filter((word) => word !== "");
  const counts = words.map((word) => (/^\d+$/.test(word) ? Number(word) : Number.NaN));
  return counts.length > 0 && counts.every(Number.isSafeInteger) ? counts : null;
}

/** Returns whether the question asks for quantiles of a number. */
const isQuantileQuestion = ({ kind, want }: ParsedQuestionSettings) =>
  kind === "number" && want === "quantiles";
/**
 * Returns whether the wanted accuracy is in the unit of the number. Otherwise it is a share of
 * people.
 */
const isAccuracyInUnit = (state: ParsedQuestionSettings) =>
  state.kind === "numbers" ||
  state.kind === "ratings" ||
  (state.kind === "cross" && state.across === "number") ||
  (state.kind === "number" &&
    (state.want === "mean" || (isQuantileQuestion(state) && Number.isFinite(state.spread))));

/** Returns the controls that describe a question. `alone` is true if there is no other question. */
function questionControls(state: ParsedQuestionSettings, alone: boolean): ControlName[] {
  switch (state.kind) {
    case "ratings":
      return [
        ...(["value", "domain", "sparsity"] as const),
        // With several questions the planner chooses the mechanism, and plans for means.
        ...(alone ? (["objective", "level"] as const) : []),
        ...(state.domain === "closed" ? (["items"] as const) : []),
      ];
    case "flag":
      return [];
    case "choice":
      return ["options"];
    case "set":
      return ["options", "sparsity"];
    case "number":
      return [
        ...(["want", "min", "max"] as const),
        ...(state.want === "mean" ? [] : (["bins", "spacing"] as const)),
        ...(isQuantileQuestion(state) ? (["quantile", "spread"] as const) : []),
      ];
    case "numbers":
      return ["count", "min", "max"];
    case "cross":
      return state.across === "number"
        ? ["options", "across", "min", "max"]
        : ["options", "across", "columns"];
    case "together":
      return ["parts"];
    case "text":
      return ["length"];
  }
}

/** Returns the controls with which a person sets the wanted accuracy. */
function accuracyControls(state: ParsedQuestionSettings, alone: boolean): ControlName[] {
  if (state.kind !== "ratings" || !alone) return [isAccuracyInUnit(state) ? "margin" : "within"];
  return ["goal", state.goal === "error" ? "standard_error" : "smallest_frequency"];
}

/** Controls for sums through a shuffler, for each measure. */
const SUM_CONTROLS: Readonly<Record<ParsedQuestionSettings["measure"], readonly ControlName[]>> = {
  numbers: ["count", "min", "max"],
  vector: ["dimension", "norm"],
  flags: ["count"],
  choice: ["options"],
  set: ["options", "sparsity"],
  number: ["min", "max", "bins"],
};

/**
 * Returns the controls that matter for a question. All other controls are hidden and not used.
 */
export function visibleControls(state: ParsedQuestionSettings, alone = true): Set<ControlName> {
  const { trust, measure, solve, budget } = state;
  if (trust === "shuffler") {
    const known = ["people", "honest_fraction", "central_epsilon", "delta"] as const;
    return new Set(["trust", "measure", ...SUM_CONTROLS[measure], ...known]);
  }
  const names: ControlName[] = ["trust", "kind", "solve", ...questionControls(state, alone)];
  names.push("people_per_day", "delta", "honest_fraction");
  if (solve !== "people") names.push("people");
  if (solve !== "epsilon") {
    names.push("budget");
    if (budget === "local") names.push("epsilon");
    else names.push("central_epsilon", "cap");
  }
  if (solve !== "error") names.push(...accuracyControls(state, alone));
  return new Set(names);
}

/** Number fields whose values must be whole. */
export const WHOLE_NUMBER_FIELDS: ReadonlySet<NumberFieldName> = new Set([
  "items",
  "options",
  "columns",
  "count",
  "dimension",
  "length",
  "sparsity",
  "bins",
  "people",
]);

/** Returns the visible fields with an invalid value, each with an error message. */
export function invalidFieldMessages(
  state: ParsedQuestionSettings,
  alone = true,
): Map<FieldName, string> {
  const asked = visibleControls(state, alone);
  const found = new Map<FieldName, string>();
  for (const name of NUMBER_FIELD_NAMES) {
    const value = state[name];
    if (!asked.has(name) || (OPTIONAL_FIELDS.has(name) && Number.isNaN(value))) continue;
    if (Number.isNaN(value)) found.set(name, "Expected a number.");
    else if (!Number.isFinite(value))
      found.set(name, "Expected a number such as 0.5 or 1000, without thousands separators.");
    else if (WHOLE_NUMBER_FIELDS.has(name) && !(Number.isSafeInteger(value) && value >= 0))
      found.set(name, "Expected a whole number.");
  }
  for (const name of LIST_FIELD_NAMES) {
    if (asked.has(name) && parseCounts(state[name]) === null)
      found.set(name, `Expected whole numbers, separated by commas, such as ${DEFAULTS[name]}.`);
  }
  return found;
}

/** Returns the survey fields for people and privacy, which all kinds of questions have. */
function commonSurveyFields(
  state: ParsedQuestionSettings,
): Pick<Survey, "delta" | "honest_fraction"> & Partial<Survey> {
  const asked = visibleControls(state);
  return {
    delta: state.delta,
    honest_fraction: state.honest_fraction,
    ...(Number.isFinite(state.people_per_day) && { people_per_day: state.people_per_day }),
    ...(asked.has("people") && { people: state.people }),
    ...(asked.has("epsilon") && { epsilon: state.epsilon }),
    ...(asked.has("central_epsilon") && {
      central_epsilon: state.central_epsilon,
      epsilon: state.cap,
    }),
  };
}

/**
 * Maximum length of a draft's list of numbers. A valid task has fewer numbers, so the planner still
 * refuses a list of this length.
 */
const MAX_DRAFT_NUMBERS = 2000;

/** Returns the draft of a sum task from the settings. Its messages go through a shuffler. */
export function sumDraftFromSettings(state: ParsedQuestionSettings): SumDraft {
  const { people, honest_fraction, central_epsilon, delta } = state;
  return {
    id: "planned",
    trust: "shuffler",
    epsilon: central_epsilon,
    delta,
    people,
    honest_fraction,
    ...sumContentFields(state),
  };
}

/** Returns the field of a sum task with the data that people send. */
function sumContentFields(state: ParsedQuestionSettings): Partial<SumDraft> {
  const { measure, count, min, max, dimension, norm, options, sparsity, bins } = state;
  const several = <T>(make: (number: number) => T) =>
    Array.from({ length: Math.min(count, MAX_DRAFT_NUMBERS) }, (_, index) => make(index + 1));
  switch (measure) {
    case "numbers":
      return { numbers: several((number) => ({ name: `number-${number}`, min, max })) };
    case "vector":
      return { vector: { items: dimension, length: norm } };
    case "flags":
      return { questions: several((number) => ({ name: `flag-${number}`, kind: "flag" })) };
    case "choice":
      return { questions: [{ name: "choice", kind: "choice", options }] };
    case "set":
      return { questions: [{ name: "set", kind: "set", options, sparsity }] };
    case "number":
      return { questions: [{ name: "number", kind: "number", min, max, bins }] };
  }
}

/**
 * Returns the survey of questions with these settings and names. All questions share the number of
 * people and the privacy.
 */
export function surveyFromSettings(
  all: readonly [ParsedQuestionSettings, ...ParsedQuestionSettings[]],
  names: readonly string[],
): Survey {
  const alone = all.length === 1;
  const name = (index: number) => names[index] ?? "";
  const wanted = all.flatMap((state, index) => {
    const own = accuracyGoalOf(state, alone);
    return Object.keys(own).length > 0 ? [[name(index), own] as const] : [];
  });
  return {
    questions: all.map((state, index) => ({
      name: name(index),
      kind: state.kind,
      ...sameNamedSurveyFields(state, alone),
      ...questionContentFields(state, alone),
    })),
    ...(wanted.length > 0 && { wanted: Object.fromEntries(wanted) }),
    ...commonSurveyFields(all[0]),
  };
}

/** Survey fields of a question that have the same name as their control. */
const FIELDS_NAMED_AS_CONTROLS = [
  "options",
  "sparsity",
  "want",
  "bins",
  "spacing",
  "length",
  "value",
] as const;

function sameNamedSurveyFields(state: ParsedQuestionSettings, alone: boolean): object {
  const asked = visibleControls(state, alone);
  const own = FIELDS_NAMED_AS_CONTROLS.filter((name) => state.kind !== "cross" && asked.has(name));
  return Object.fromEntries(own.map((name) => [name, state[name]]));
}

/** Returns the wanted accuracy of a question. */
function accuracyGoalOf(state: ParsedQuestionSettings, alone: boolean): AccuracyGoal {
  const asked = visibleControls(state, alone);
  const { within, margin, quantile, spread, standard_error, smallest_frequency: smallest } = state;
  return {
    ...(asked.has("within") && { within }),
    ...(asked.has("margin") && { within: margin }),
    ...(asked.has("quantile") && { quantile }),
    ...(asked.has("spread") && Number.isFinite(spread) && { spread }),
    ...(asked.has("standard_error") && { standard_error }),
    ...(asked.has("smallest_frequency") && { smallest_frequency: smallest }),
  };
}

/**
 * Returns the fields that describe what a question asks for: its numbers, rows and columns,
 * choices, or range.
 */
function questionContentFields(state: ParsedQuestionSettings, alone: boolean): object {
  const { kind, across, count, options, columns, parts, min, max, domain, items } = state;
  const { objective, level } = state;
  switch (kind) {
    case "ratings": {
      const weights = objective === "both" ? { mean: 1, frequency: 1 } : objective;
      const mechanism = alone ? { name: "auto", objective: weights, level } : "auto";
      return { items: domain === "open" ? domain : items, mechanism };
    }
    case "numbers": {
      const name = (index: number) => `number-${index + 1}`;
      return { of: Array.from({ length: count }, (_, index) => ({ name: name(index), min, max })) };
    }
    case "cross": {
      const rows = { name: "rows", kind: "choice", options };
      const own =
        across === "number" ? { kind: "number", min, max } : { kind: "choice", options: columns };
      return { of: [rows, { name: "columns", ...own }] };
    }
    case "together":
      return { of: parseCounts(parts)?.map(combinedQuestionPart) ?? [] };
    case "number":
      return { min, max };
    default:
      return {};
  }
}

/**
 * Creates one part of a combined question. The part has `options` options, and is a flag if there
 * are two.
 */
function combinedQuestionPart(options: number, index: number): object {
  if (options === 2) return { name: `flag-${index + 1}`, kind: "flag" };
  return { name: `choice-${index + 1}`, kind: "choice", options };
}

/** Returns the visible field at which an error is shown. `field` is the name in the error. */
export function fieldForError(
  field: string | undefined,
  state: ParsedQuestionSettings,
  alone = true,
): FieldName | undefined {
  const asked = visibleControls(state, alone);
  const name = CONTROLS_OF_ERROR_FIELDS[field ?? ""]?.find((own) => asked.has(own)) ?? field;
  return [...NUMBER_FIELD_NAMES, ...LIST_FIELD_NAMES].find((own) => own === name && asked.has(own));
}

/**
 * Form fields to which a field name in an error can refer. The error is shown at the first of them
 * that is visible. Names that are not listed are the same in the form.
 */
const CONTROLS_OF_ERROR_FIELDS: Readonly<Record<string, readonly FieldName[]>> = {
  epsilon: ["epsilon", "cap", "central_epsilon"],
  within: ["within", "margin"],
  "number of attributes": ["count"],
  "number of parts": ["parts"],
  options: ["options", "parts"],
  items: ["items", "parts"],
  "length of a prefix": ["length"],
  length: ["length", "norm"],
  "number of coordinates": ["count"],
  "messages of one person": ["people"],
  "messages of a batch": ["people"],
  "honest people": ["people"],
  "number of bins": ["bins"],
};
