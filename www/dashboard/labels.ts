// What things are called, and numbers as this page prints them.

import { count, percent } from "../demo/shared/format.js";
import type { Estimand, Estimate, Label, Question, Task } from "./api.js";

/** A number of any unit: three digits, and all before the point. */
export function digits(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
  return new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 21 })
    .format(rounded)
    .replace("-", "−");
}

/** A number in as many digits as its interval leaves a meaning: two of half its width. */
export function resolved(value: number, estimate?: Estimate): string {
  const [from, to] = estimate?.simultaneous_interval ?? [0, 0];
  const half = (to - from) / 2;
  if (!(half > 0 && Number.isFinite(half))) return digits(value);
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(half)), 0), 12);
  const format = { minimumFractionDigits: places, maximumFractionDigits: places };
  const text = new Intl.NumberFormat("en-GB", format).format(value);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}

/** A round number of an axis: no more digits than it needs. */
export const tick = (value: number): string =>
  Number(value.toPrecision(6)).toLocaleString("en-GB").replace("-", "−");

/** A round share of an axis. */
export const shareTick = (value: number): string => `${tick(value * 100)}%`;

/** A share, in per cent with one digit behind the point. */
export const share = (value: number): string => percent(value, 1);

/** A mean of ratings from −1 to 1. */
export const rating = (value: number): string =>
  value.toFixed(3).replace("-", Number(value.toFixed(3)) === 0 ? "" : "−");

/** What an item goes by. */
export function nameOf(label: Label): string {
  if (typeof label === "string") return label;
  if (typeof label === "number") return String(label);
  const { from, to } = label as { readonly from?: Label; readonly to?: Label };
  if (typeof from === "number" && typeof to === "number") return `${digits(from)} to ${digits(to)}`;
  return Object.entries(label)
    .map(([part, own]) => `${part}: ${nameOf(own)}`)
    .join(", ");
}

/** What an item is asked for by; null of numbers, which are not printed here as they are there. */
export function queryOf(label: Label): string | null {
  if (typeof label !== "object") return String(label);
  const named = Object.values(label).every((part) => typeof part === "string");
  return named ? nameOf(label) : null;
}

/** The questions of a task: one without a name where it is for ratings or sums alone. */
export function questionsOf(task: Task): readonly Question[] {
  const { numbers, vector } = task;
  if (numbers !== undefined) return [{ kind: "numbers", of: numbers }];
  if (vector !== undefined) return [{ kind: "vector", items: vector.items }];
  return task.questions ?? [{ ...task, kind: "ratings" }];
}

/** How many items a question has; null where names are arbitrary or found by search. */
export function itemsOf(question: Question): number | null {
  const items = question.items ?? question.options;
  if (items === "open" || question.kind === "text") return null;
  if (typeof items === "number") return items;
  if (items !== undefined) return items.length;
  if (question.edges !== undefined) return question.edges.length - 1;
  return question.of?.length ?? 1;
}

/** Words for an estimand: for a choice of one and above a list. */
interface Words {
  readonly long: string;
  readonly short: string;
}

const WORDS: Readonly<Record<Estimand, Words>> = {
  mean: { long: "mean rating; a missing one is 0", short: "Mean" },
  sum: { long: "sum over all people", short: "Sum over all people" },
  plus: { long: "share of people who rate it above 0", short: "Rated above 0" },
  minus: { long: "share of people who rate it below 0", short: "Rated below 0" },
  nonmissing: { long: "share of people who have it", short: "Have it" },
  share: { long: "share of people", short: "Share of people" },
};

/** Words of ratings with fractions, where half a rating counts as half. */
const FRACTIONAL: Readonly<Partial<Record<Estimand, Words>>> = {
  plus: { long: "mean of ratings above 0; others are 0", short: "Mean above 0" },
  minus: { long: "mean of ratings below 0, without sign; others are 0", short: "Mean below 0" },
  nonmissing: { long: "mean size of ratings; a missing one is 0", short: "Mean size" },
};

/** Tells whether ratings have fractions. */
const isFractional = ({ kind = "", value }: Question): boolean =>
  kind === "ratings" && value === "real";

/** Words for an estimand of a question. */
export const wordsOf = (estimand: Estimand, question: Question): Words =>
  (isFractional(question) ? FRACTIONAL[estimand] : undefined) ?? WORDS[estimand];

/** Tells whether an estimate is a share of people, to be shown in per cent. */
export const isShare = (estimand: Estimand, question: Question): boolean =>
  !["mean", "sum"].includes(estimand) && !isFractional(question);

/** What kinds of questions ask for. */
export const KINDS: Readonly<Record<string, string>> = {
  ratings: "ratings",
  set: "any of several options",
  choice: "one of several options",
  flag: "yes or no",
  number: "a number",
  numbers: "several numbers",
  cross: "two things at once",
  together: "several options together",
  text: "a text",
  vector: "a vector",
};

/** Kinds of which each item is a number, in a unit or in none. */
const REAL: ReadonlySet<string> = new Set(["numbers", "vector"]);

/** Whether items are numbers, and not shares of people or ratings. */
export const isReal = ({ kind = "" }: Question): boolean => REAL.has(kind);

/** A point in time, in the reader's own time zone. */
export function moment(seconds: number): string {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return format.format(seconds * 1000);
}

/** Numbers that follow each other, as ranges: 1–3, 5. */
export function ranges(numbers: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts[parts.length - 1];
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? count(from) : `${from}–${to}`)).join(", ");
}
