// Texts for items, questions and estimands, and formats of numbers.

import { displayedName } from "../client/displayed-name.js";
import { formatCount, formatPercent } from "../demo/shared/format.js";
import type { Estimand, Estimate, ItemLabel, Question, Task } from "./api.js";

/**
 * Formats a number with three significant digits. Digits before the decimal point are never rounded
 * away.
 */
export function formatNumber(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
  return new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 21 })
    .format(rounded)
    .replace("-", "−");
}

/**
 * Formats a value as precisely as the interval of its estimate justifies: to two significant digits
 * of the half-width.
 */
export function formatToErrorPrecision(value: number, estimate?: Estimate): string {
  const [from, to] = estimate?.simultaneous_interval ?? [0, 0];
  const half = (to - from) / 2;
  if (!(half > 0 && Number.isFinite(half))) return formatNumber(value);
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(half)), 0), 12);
  const format = { minimumFractionDigits: places, maximumFractionDigits: places };
  const text = new Intl.NumberFormat("en-GB", format).format(value);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}

/** Formats a share in per cent, as precisely as {@link formatToErrorPrecision}. */
export function shareToErrorPrecision(value: number, estimate: Estimate): string {
  const [from, to] = estimate.simultaneous_interval;
  const percent = [100 * from, 100 * to] as const;
  return `${formatToErrorPrecision(100 * value, { ...estimate, simultaneous_interval: percent })}%`;
}

/** Formats a round number for the label of an axis. */
export const tickText = (value: number): string =>
  Number(value.toPrecision(6)).toLocaleString("en-GB").replace("-", "−");

/** Formats a round share, in per cent, for the label of an axis. */
export const shareTickText = (value: number): string => `${tickText(value * 100)}%`;

/** Formats a share in per cent, with one decimal. */
export const shareText = (value: number): string => formatPercent(value, 1);

/** Formats a mean of ratings from −1 to 1. */
export const ratingText = (value: number): string =>
  value.toFixed(3).replace("-", Number(value.toFixed(3)) === 0 ? "" : "−");

/** Returns the text that names the item with this label. */
export function itemName(label: ItemLabel): string {
  return labelText(label, displayedName);
}

/** Formats a label. `nameText` formats each name in it. */
function labelText(label: ItemLabel, nameText: (name: string) => string): string {
  if (typeof label === "string") return nameText(label);
  if (typeof label === "number") return String(label);
  const { from, to } = label as { readonly from?: ItemLabel; readonly to?: ItemLabel };
  if (typeof from === "number" && typeof to === "number")
    return `${formatNumber(from)} to ${formatNumber(to)}`;
  return Object.entries(label)
    .map(([part, own]) => `${nameText(part)}: ${labelText(own, nameText)}`)
    .join(", ");
}

/**
 * Returns the name by which a request can ask for the item with this label. Returns `null` for
 * bins, because this page has only rounded values of the edges.
 */
export function itemQueryName(label: ItemLabel): string | null {
  if (typeof label !== "object") return String(label);
  const named = Object.values(label).every((part) => typeof part === "string");
  return named ? labelText(label, (name) => name) : null;
}

/**
 * Returns the questions of a task. A task that only asks for ratings has one question without a
 * name. A sum task always has one question.
 */
export function questionsOf(task: Task): readonly Question[] {
  const { numbers, vector, messages, questions = [] } = task;
  if (numbers !== undefined) return [{ kind: "numbers", of: numbers }];
  if (vector !== undefined) return [{ kind: "vector", items: vector.items }];
  if (messages !== undefined) return countedQuestions(questions);
  return task.questions ?? [{ ...task, kind: "ratings" }];
}

/** Returns the only question of a sum task that counts answers. Its items may be several flags. */
function countedQuestions(questions: readonly Question[]): readonly Question[] {
  const [first] = questions;
  if (first?.kind !== "flag") return questions.map((own) => ({ ...own, counted: true }));
  const names = questions.map(({ name = "" }) => name);
  return [{ kind: "flags", items: names, counted: true }];
}

/** Returns the number of items of a question. Returns `null` if the items are not listed. */
export function itemCount(question: Question): number | null {
  const items = question.items ?? question.options;
  if (items === "open" || question.kind === "text") return null;
  if (typeof items === "number") return items;
  if (items !== undefined) return items.length;
  if (question.edges !== undefined) return question.edges.length - (question.optional ? 0 : 1);
  return question.of?.length ?? 1;
}

/**
 * Texts that name an estimand: `long` for the drop-down list, `short` for the heading of a table.
 */
interface EstimandTexts {
  readonly long: string;
  readonly short: string;
}

const ESTIMAND_TEXTS: Readonly<Record<Estimand, EstimandTexts>> = {
  mean: { long: "mean rating (no rating counts as 0)", short: "Mean rating" },
  sum: { long: "sum over all people", short: "Sum over all people" },
  plus: {
    long: "share of people who rate the item above 0",
    short: "Share of people who rate above 0",
  },
  minus: {
    long: "share of people who rate the item below 0",
    short: "Share of people who rate below 0",
  },
  nonmissing: { long: "share of people who rate the item", short: "Share of people with a rating" },
  share: { long: "share of people", short: "Share of people" },
};

/** Texts for estimands of ratings that can be any numbers from −1 to 1. */
const REAL_RATING_ESTIMAND_TEXTS: Readonly<Partial<Record<Estimand, EstimandTexts>>> = {
  plus: {
    long: "mean of ratings above 0 (other ratings count as 0)",
    short: "Mean rating above 0",
  },
  minus: {
    long: "mean of ratings below 0, without sign (other ratings count as 0)",
    short: "Mean rating below 0",
  },
  nonmissing: {
    long: "mean absolute rating (no rating counts as 0)",
    short: "Mean absolute rating",
  },
};

/** Returns true if the ratings of a question can be any numbers from −1 to 1. */
const hasRealValuedRatings = ({ kind = "", value }: Question): boolean =>
  kind === "ratings" && value === "real";

/** Texts for estimands of questions whose answers are counted. */
const COUNTED_ESTIMAND_TEXTS: Readonly<Partial<Record<Estimand, EstimandTexts>>> = {
  sum: { long: "number of people", short: "Number of people" },
};

/** Returns the texts that name an estimand of a question. */
export const estimandTexts = (estimand: Estimand, question: Question): EstimandTexts =>
  (question.counted ? COUNTED_ESTIMAND_TEXTS[estimand] : undefined) ??
  (hasRealValuedRatings(question) ? REAL_RATING_ESTIMAND_TEXTS[estimand] : undefined) ??
  ESTIMAND_TEXTS[estimand];

/** Returns true if estimates of this estimand are shares of people, which are shown in per cent. */
export const isShare = (estimand: Estimand, question: Question): boolean =>
  !["mean", "sum"].includes(estimand) && !hasRealValuedRatings(question);

/** Short description of each kind of question. */
export const KIND_DESCRIPTIONS: Readonly<Record<string, string>> = {
  ratings: "ratings",
  set: "any of several options",
  choice: "one of several options",
  flag: "yes or no",
  number: "a number",
  numbers: "several numbers",
  cross: "two answers combined",
  together: "several choices combined",
  text: "a text",
  vector: "a vector",
};

/** Kinds of questions whose items are numbers in any range, such as times or counts. */
const REAL_VALUED_KINDS: ReadonlySet<string> = new Set(["numbers", "vector"]);

/**
 * Returns true if the items of a question are numbers in any range, and not ratings or shares of
 * people.
 */
export const hasRealValuedItems = ({ kind = "" }: Question): boolean => REAL_VALUED_KINDS.has(kind);

/** Formats a time in seconds since 1970, in the browser's time zone. */
export function formatTime(seconds: number): string {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return format.format(seconds * 1000);
}

/** Formats whole numbers as a list of ranges: 1–3, 5. */
export function formatAsRanges(numbers: readonly number[]): string {
  const parts: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts[parts.length - 1];
    if (last !== undefined && number === last[1] + 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? formatCount(from) : `${from}–${to}`)).join(", ");
}
