// Estimates as rows: of what, in which order, which of them are shown.

import { ESTIMANDS, type Estimand, type Estimate, type Estimates, type Question } from "./api.js";
import { digits, isReal, isShare, nameOf, queryOf, rating, resolved, share } from "./labels.js";

/** One item. */
export interface Row {
  readonly label: string;
  /** What it is asked for by, if it can be. */
  readonly query: string | null;
  readonly estimate: Estimate;
  /** The least and the greatest value, where each row has its own. */
  readonly range?: readonly [number, number];
  readonly unit?: string;
}

/** Rows of one estimand, and how their numbers are printed. */
export interface Rows {
  readonly estimand: Estimand;
  /** True of shares of people. */
  readonly shares: boolean;
  readonly rows: readonly Row[];
  /** With the estimate that it is of, or is an end of. */
  readonly words: (value: number, estimate?: Estimate) => string;
}

/** A unit behind a number. */
export const behind = (unit: string | undefined): string => (unit === undefined ? "" : ` ${unit}`);

/** The interval that holds together with others, in its unit. */
export function spread({ estimate, unit }: Row, words: Rows["words"]): string {
  const [from, to] = estimate.simultaneous_interval.map((end) => words(end, estimate));
  return `${from} to ${to}${behind(unit)}`;
}

/** What is estimated of the items. */
export function estimandsOf({ estimates }: Estimates): readonly Estimand[] {
  const [first] = estimates;
  return first === undefined ? [] : ESTIMANDS.filter((estimand) => first[estimand] !== undefined);
}

/** Rows of what was asked for, or of what there is instead. */
export function rowsOf(answer: Estimates, question: Question, wanted?: Estimand): Rows | null {
  const there = estimandsOf(answer);
  const estimand = wanted !== undefined && there.includes(wanted) ? wanted : there[0];
  if (estimand === undefined) return null;
  const ranges = new Map(question.of?.map(({ name, min, max }) => [name, [min, max] as const]));
  const numbers = question.kind === "numbers";
  // Of sums a number is as many times larger as there are people.
  const by = estimand === "sum" ? (answer.people ?? 1) : 1;
  const rows = answer.estimates.flatMap((item) => {
    const estimate = item[estimand];
    if (estimate === undefined) return [];
    const label = nameOf(item.item);
    const range = numbers ? ranges.get(label) : undefined;
    return {
      label,
      query: queryOf(item.item),
      estimate,
      ...(range === undefined ? {} : { range: [range[0] * by, range[1] * by] as const }),
      ...(item.unit === undefined ? {} : { unit: item.unit }),
    };
  });
  const words = digitsOf(answer, question, estimand);
  return { estimand, shares: isShare(estimand, question), rows, words };
}

function digitsOf({ people }: Estimates, question: Question, estimand: Estimand): Rows["words"] {
  // Sums are told so exactly that three digits are too few.
  if (people !== undefined) return resolved;
  if (isShare(estimand, question)) return share;
  return isReal(question) ? digits : rating;
}

/** What rows may be sorted by. */
export const ORDERS = ["largest", "smallest", "clearest", "name", "task"] as const;
export type Order = (typeof ORDERS)[number];

export const ORDER_WORDS: Readonly<Record<Order, string>> = {
  largest: "Largest first",
  smallest: "Smallest first",
  clearest: "Clearest from 0 first",
  name: "By name",
  task: "As the task has them",
};

/** How many half-widths of its interval an estimate is from 0. */
function clearness({ estimate }: Row): number {
  const [from, to] = estimate.simultaneous_interval;
  // Intervals may be lopsided: the half that points to 0 counts.
  const half = estimate.estimate >= 0 ? estimate.estimate - from : to - estimate.estimate;
  return Math.abs(estimate.estimate) / Math.max(half, Number.MIN_VALUE);
}

const COMPARE: Readonly<Record<Order, (a: Row, b: Row) => number>> = {
  largest: (a, b) => b.estimate.estimate - a.estimate.estimate,
  smallest: (a, b) => a.estimate.estimate - b.estimate.estimate,
  clearest: (a, b) => clearness(b) - clearness(a),
  name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
  task: () => 0,
};

/** Rows in this order; those that are alike stay as they are. */
export function sorted(rows: readonly Row[], order: Order): readonly Row[] {
  return [...rows].sort(COMPARE[order]);
}

/** Whether a name holds all words that are sought, in whatever case. */
export function matches(label: string, sought: string): boolean {
  const name = label.toLowerCase();
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word));
}
