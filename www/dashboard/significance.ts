// Significant estimates and significant changes.
//
// The lists of significant estimates and changes use simultaneous intervals with confidence c. The
// list of estimates that differ from 0 then contains a false alarm with a probability of at most 1
// − c. A comparison of two batches needs the intervals of both to hold. Each batch is therefore
// requested with confidence (1 + c) / 2 (Bonferroni).

import type { Estimate } from "./api.js";
import type { EstimateRow } from "./rows.js";

type Interval = readonly [number, number];

/** Returns true if the simultaneous interval of the estimate does not contain 0. */
export function excludesZero({ simultaneous_interval: [from, to] }: Estimate): boolean {
  return from > 0 || to < 0;
}

/** Returns true if two intervals have no number in common. */
export function areDisjoint([a, b]: Interval, [c, d]: Interval): boolean {
  return b < c || d < a;
}

/**
 * Returns the confidence at which to compute the intervals of each of two batches. The intervals of
 * both batches then hold at once with the given confidence.
 */
export const confidencePerBatchOfTwo = (confidence: number): number => (1 + confidence) / 2;

/**
 * Returns the rows whose simultaneous intervals exclude 0. The rows whose intervals are farthest
 * from 0 come first.
 */
export function significantRows(rows: readonly EstimateRow[]): readonly EstimateRow[] {
  const reach = ({ estimate: { simultaneous_interval: ends } }: EstimateRow) =>
    Math.min(...ends.map(Math.abs));
  return rows.filter(({ estimate }) => excludesZero(estimate)).sort((a, b) => reach(b) - reach(a));
}

/** Change of one item: its estimates in two batches. */
export interface EstimateChange {
  readonly label: string;
  readonly unit: string | undefined;
  readonly before: Estimate;
  readonly after: Estimate;
}

/**
 * Returns the changes of the items whose intervals in the two batches are disjoint, the largest
 * change first.
 */
export function significantChanges(
  before: readonly EstimateRow[],
  after: readonly EstimateRow[],
): readonly EstimateChange[] {
  const earlier = new Map(before.map(({ label, estimate }) => [label, estimate]));
  const moved = ({ before, after }: EstimateChange) => Math.abs(after.estimate - before.estimate);
  return after
    .flatMap(({ label, unit, estimate }) => {
      const own = earlier.get(label);
      return own === undefined ? [] : { label, unit, before: own, after: estimate };
    })
    .filter(({ before, after }) =>
      areDisjoint(before.simultaneous_interval, after.simultaneous_interval),
    )
    .sort((a, b) => moved(b) - moved(a));
}
