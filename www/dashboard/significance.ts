// Significant estimates and changes.
//
// Both lists use simultaneous intervals. With confidence c, the list of items that are not 0
// contains a false alarm with a probability of at most 1 − c. Comparing two batches needs the
// intervals of both. So the intervals of each batch are requested at confidence (1 + c) / 2
// (Bonferroni).

import type { Estimate } from "./api.js";
import type { Row } from "./rows.js";

type Interval = readonly [number, number];

/** Returns true if the simultaneous interval excludes 0. */
export function excludesZero({ simultaneous_interval: [from, to] }: Estimate): boolean {
  return from > 0 || to < 0;
}

/** Returns true if two intervals are disjoint. */
export function areDisjoint([a, b]: Interval, [c, d]: Interval): boolean {
  return b < c || d < a;
}

/**
 * Returns the confidence that each of two sets of intervals needs, so that both are valid with the
 * given joint confidence.
 */
export const confidenceOfEach = (confidence: number): number => (1 + confidence) / 2;

/** Returns the items whose intervals exclude 0, farthest from 0 first. */
export function significantRows(rows: readonly Row[]): readonly Row[] {
  const reach = ({ estimate: { simultaneous_interval: ends } }: Row) =>
    Math.min(...ends.map(Math.abs));
  return rows.filter(({ estimate }) => excludesZero(estimate)).sort((a, b) => reach(b) - reach(a));
}

/** Estimates of one item in two batches. */
export interface Change {
  readonly label: string;
  readonly unit: string | undefined;
  readonly before: Estimate;
  readonly after: Estimate;
}

/** Returns the items whose intervals in two batches are disjoint, largest change first. */
export function significantChanges(
  before: readonly Row[],
  after: readonly Row[],
): readonly Change[] {
  const earlier = new Map(before.map(({ label, estimate }) => [label, estimate]));
  const moved = ({ before, after }: Change) => Math.abs(after.estimate - before.estimate);
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
