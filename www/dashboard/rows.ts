// Rows of estimates, which tables and pictures show: content, order, and the search for names.

import { displayedName } from "../client/displayed-name.js";
import {
  ESTIMANDS,
  type Estimand,
  type Estimate,
  type EstimatesResponse,
  type Question,
} from "./api.js";
import {
  formatNumber,
  formatToErrorPrecision,
  hasRealValuedItems,
  isShare,
  itemName,
  itemQueryName,
  ratingText,
  shareText,
  shareToErrorPrecision,
} from "./labels.js";

/** Table row of one item, with its estimate. */
export interface EstimateRow {
  readonly label: string;
  /** Name by which a request can ask for the item. `null` if there is no such name. */
  readonly queryName: string | null;
  readonly estimate: Estimate;
  /** Minimum and maximum of the item's values. Undefined if all rows have the same range. */
  readonly valueRange?: readonly [number, number];
  readonly unit?: string;
}

/** Rows with the estimates of one estimand, and the format of their numbers. */
export interface EstimandRows {
  readonly estimand: Estimand;
  /** True if the estimates are shares of people. */
  readonly areShares: boolean;
  readonly rows: readonly EstimateRow[];
  /** Formats a value. The precision of `estimate` can determine the number of digits. */
  readonly format: (value: number, estimate?: Estimate) => string;
}

/** Returns the unit after a space, or an empty text if there is no unit. */
export const unitSuffix = (unit: string | undefined): string =>
  unit === undefined ? "" : ` ${displayedName(unit)}`;

/** Formats the simultaneous interval of a row, with its unit. */
export function intervalText(
  { estimate, unit }: EstimateRow,
  format: EstimandRows["format"],
): string {
  const [from, to] = estimate.simultaneous_interval.map((end) => format(end, estimate));
  return `${from} to ${to}${unitSuffix(unit)}`;
}

/** Returns the estimands for which a response has estimates. */
export function estimandsInResponse({ estimates }: EstimatesResponse): readonly Estimand[] {
  const [first] = estimates;
  return first === undefined ? [] : ESTIMANDS.filter((estimand) => first[estimand] !== undefined);
}

/**
 * Returns the rows for the wanted estimand, or else for the first estimand of the response. Returns
 * null if the response has no items.
 */
export function estimandRows(
  answer: EstimatesResponse,
  question: Question,
  wanted?: Estimand,
): EstimandRows | null {
  const there = estimandsInResponse(answer);
  const estimand = wanted !== undefined && there.includes(wanted) ? wanted : there[0];
  if (estimand === undefined) return null;
  const ranges = new Map(
    question.of?.map(({ name, min, max }) => [displayedName(name), [min, max] as const]),
  );
  const numbers = question.kind === "numbers";
  // A sum is the mean times the number of people, and so is its range.
  const by = estimand === "sum" ? (answer.people ?? 1) : 1;
  const rows = answer.estimates.flatMap((item) => {
    const estimate = item[estimand];
    if (estimate === undefined) return [];
    const label = itemName(item.item);
    const range = numbers ? ranges.get(label) : undefined;
    return {
      label,
      queryName: itemQueryName(item.item),
      estimate,
      ...(range === undefined ? {} : { valueRange: [range[0] * by, range[1] * by] as const }),
      ...(item.unit === undefined ? {} : { unit: item.unit }),
    };
  });
  const format = formatterForEstimand(answer, question, estimand);
  return { estimand, areShares: isShare(estimand, question), rows, format };
}

function formatterForEstimand(
  { people }: EstimatesResponse,
  question: Question,
  estimand: Estimand,
): EstimandRows["format"] {
  // Sums and counts are so exact that three digits are too few.
  if (people !== undefined)
    return (value, estimate) =>
      estimand === "share" && estimate !== undefined
        ? shareToErrorPrecision(value, estimate)
        : formatToErrorPrecision(value, estimate);
  if (isShare(estimand, question)) return shareText;
  return hasRealValuedItems(question) ? formatNumber : ratingText;
}

/** Names of the orders in which rows can be sorted. */
export const ORDERS = ["largest", "smallest", "clearest", "name", "task"] as const;
export type RowOrder = (typeof ORDERS)[number];

export const ORDER_WORDS: Readonly<Record<RowOrder, string>> = {
  largest: "Largest first",
  smallest: "Smallest first",
  clearest: "Most significant first",
  name: "By name",
  task: "In task order",
};

/** Returns the distance of an estimate from 0, divided by the half-width of its interval. */
function halfWidthsFromZero({ estimate }: EstimateRow): number {
  const [from, to] = estimate.simultaneous_interval;
  // Intervals can be asymmetric. The half-width on the side of 0 counts.
  const half = estimate.estimate >= 0 ? estimate.estimate - from : to - estimate.estimate;
  return Math.abs(estimate.estimate) / Math.max(half, Number.MIN_VALUE);
}

const ROW_COMPARATORS: Readonly<Record<RowOrder, (a: EstimateRow, b: EstimateRow) => number>> = {
  largest: (a, b) => b.estimate.estimate - a.estimate.estimate,
  smallest: (a, b) => a.estimate.estimate - b.estimate.estimate,
  clearest: (a, b) => halfWidthsFromZero(b) - halfWidthsFromZero(a),
  name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
  task: () => 0,
};

/** Returns the rows sorted in this order. Rows that compare as equal keep their order. */
export function sortedRows(rows: readonly EstimateRow[], order: RowOrder): readonly EstimateRow[] {
  return [...rows].sort(ROW_COMPARATORS[order]);
}

/** Returns true if a name contains every word of the searched text. Case is ignored. */
export function matchesSearch(label: string, sought: string): boolean {
  const name = label.toLowerCase();
  return sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word));
}
