// What stands out: estimates that chance alone does not explain.
//
// Both lists are of intervals that hold all together. Of a list of what lies clear of 0 nothing is
// wrong but with a probability of 1 − confidence. Where two batches are compared both have to hold:
// each is asked for at (1 + confidence)/2, so that both fail to with as little (Bonferroni).

import type { Estimate } from "./api.js";
import type { Row } from "./rows.js";

type Interval = readonly [number, number];

/** Whether 0 is outside of the interval. */
export function clearOfZero({ simultaneous_interval: [from, to] }: Estimate): boolean {
  return from > 0 || to < 0;
}

/** Whether two intervals have no number in common. */
export function apart([a, b]: Interval, [c, d]: Interval): boolean {
  return b < c || d < a;
}

/** The confidence of either of two sets of intervals that hold together with this one. */
export const ofEither = (confidence: number): number => (1 + confidence) / 2;

/** The items whose intervals lie clear of 0, those first that are farthest from it. */
export function standing(rows: readonly Row[]): readonly Row[] {
  const reach = ({ estimate: { simultaneous_interval: ends } }: Row) =>
    Math.min(...ends.map(Math.abs));
  return rows.filter(({ estimate }) => clearOfZero(estimate)).sort((a, b) => reach(b) - reach(a));
}

/** An item of two batches. */
export interface Change {
  readonly label: string;
  readonly unit: string | undefined;
  readonly before: Estimate;
  readonly after: Estimate;
}

/** The items whose intervals in the two batches do not meet, those first that moved most. */
export function changed(before: readonly Row[], after: readonly Row[]): readonly Change[] {
  const earlier = new Map(before.map(({ label, estimate }) => [label, estimate]));
  const moved = ({ before, after }: Change) => Math.abs(after.estimate - before.estimate);
  return after
    .flatMap(({ label, unit, estimate }) => {
      const own = earlier.get(label);
      return own === undefined ? [] : { label, unit, before: own, after: estimate };
    })
    .filter(({ before, after }) => apart(before.simultaneous_interval, after.simultaneous_interval))
    .sort((a, b) => moved(b) - moved(a));
}
