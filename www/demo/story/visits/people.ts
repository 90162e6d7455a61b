// The invented visitors and the true answers of each. The n-th visitor is the same in every
// browser, so the true counts follow from the number of visitors who reported.

import { type PackedPeople, PSEUDO_RANDOM_ROLL } from "../habits.js";
import { emptyTrueCounts } from "../ledger.js";
import { clipLoadTime, FEATURES, type Feature, THEME, type Theme, type Visit } from "./task.js";

const THEME_SHARES: Readonly<Record<Theme, number>> = {
  dark: 0.42,
  light: 0.3,
  system: 0.22,
  "high-contrast": 0.06,
};

/** Shares of people who use each feature, before the limit of two per report. */
const FEATURE_SHARES: Readonly<Record<Feature, number>> = {
  search: 0.55,
  export: 0.12,
  share: 0.26,
  comments: 0.18,
  offline: 0.06,
};

/**
 * Distributions of load times in ms. `part` is the share of visitors with this connection. `spread`
 * is the standard deviation of the load time's logarithm.
 */
const CONNECTION_LOAD_TIMES = [
  { part: 0.75, median: 620, spread: 0.45 },
  { part: 0.25, median: 2600, spread: 0.4 },
] as const;

/** Purposes that this chapter passes to {@link PSEUDO_RANDOM_ROLL}. Other chapters pass different purposes. */
const ROLL_PURPOSES = { theme: 100, line: 101, radius: 102, angle: 103, feature: 110, keen: 120 };

/** Returns the answers of the invented visitor with this number. */
export function drawVisitor(person: number): Visit {
  const roll = (purpose: number) => PSEUDO_RANDOM_ROLL(person, purpose);
  const used = FEATURES.options
    .map((feature, index) => ({ feature, index, keen: roll(ROLL_PURPOSES.keen + index) }))
    .filter(({ feature, index }) => roll(ROLL_PURPOSES.feature + index) < FEATURE_SHARES[feature])
    .sort((a, b) => a.keen - b.keen);
  return {
    theme: themeAtRoll(roll(ROLL_PURPOSES.theme)),
    features: used.slice(0, FEATURES.sparsity).map(({ feature }) => feature),
    loadMs: drawLoadTime(roll),
  };
}

function themeAtRoll(roll: number): Theme {
  let reached = 0;
  const found = THEME.options.find((option) => {
    reached += THEME_SHARES[option];
    return roll < reached;
  });
  return found ?? "system";
}

/**
 * Draws a load time, which is lognormal for each kind of connection. Uses the method of Box and
 * Muller (1958).
 */
function drawLoadTime(roll: (purpose: number) => number): number {
  const [quick, slow] = CONNECTION_LOAD_TIMES;
  const line = roll(ROLL_PURPOSES.line) < quick.part ? quick : slow;
  // 1 − roll is in (0, 1], because the logarithm of 0 is not finite.
  const radius = Math.sqrt(-2 * Math.log(1 - roll(ROLL_PURPOSES.radius)));
  const normal = radius * Math.cos(2 * Math.PI * roll(ROLL_PURPOSES.angle));
  return Math.round(line.median * Math.exp(line.spread * normal));
}

/**
 * Draws `people` invented visitors as packed arrays, starting with the visitor whose number is
 * `first`.
 */
export function drawVisits(first: number, people: number): PackedPeople {
  const lengths: number[] = [];
  const items: number[] = [];
  const values: number[] = [];
  for (let person = first; person < first + people; person++) {
    const { theme, features, loadMs } = drawVisitor(person);
    lengths.push(1, features.length, 1);
    items.push(THEME.options.indexOf(theme), ...features.map(featureIndex), 0);
    values.push(1, ...features.map(() => 1), loadMs);
  }
  return {
    lengths: Uint32Array.from(lengths),
    items: Uint32Array.from(items),
    values: Float64Array.from(values),
    trueCounts: { ...emptyTrueCounts(0), people },
  };
}

const featureIndex = (feature: Feature) => FEATURES.options.indexOf(feature);

/** True counts of the answers of a number of visitors. */
export interface VisitTrueCounts {
  readonly people: number;
  /** Number of invented visitors. The visitor of the page may be one more. */
  readonly crowdSize: number;
  /** Number of people with each theme. */
  readonly themes: readonly number[];
  /** Number of people who used each feature. */
  readonly features: readonly number[];
  /** Returns the number of visitors whose clipped load time is below this one. */
  countBelow(loadMs: number): number;
  /**
   * Returns a quantile of the clipped load times. `part` is from 0 to 1. Returns null without
   * people.
   */
  quantile(part: number): number | null;
}

/**
 * Counts the true answers of the first `crowd` invented visitors, and those of the page's visitor
 * unless `own` is null.
 */
export function visitTrueCounts(crowd: number, own: Visit | null): VisitTrueCounts {
  const themes = THEME.options.map(() => 0);
  const features = FEATURES.options.map(() => 0);
  const people = crowd + (own ? 1 : 0);
  const loads = new Float64Array(people);
  const count = (counts: number[], index: number) => {
    counts[index] = (counts[index] ?? 0) + 1;
  };
  for (let person = 0; person < people; person++) {
    const visit = person < crowd || !own ? drawVisitor(person) : own;
    count(themes, THEME.options.indexOf(visit.theme));
    for (const feature of visit.features) count(features, featureIndex(feature));
    loads[person] = clipLoadTime(visit.loadMs);
  }
  loads.sort();
  const quantile = (part: number) => loads[Math.max(Math.ceil(part * people) - 1, 0)] ?? null;
  // Bisection: a chart asks for every edge whenever it is drawn.
  const below = (loadMs: number) => {
    let [from, to] = [0, people];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((loads[middle] as number) < loadMs) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return { people, crowdSize: crowd, themes, features, countBelow: below, quantile };
}
