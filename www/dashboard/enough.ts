// Whether there are reports enough for estimates to say something.

import { count, counted } from "../demo/shared/format.js";
import type { Estimand, Estimate, Estimates } from "./api.js";
import type { Row } from "./rows.js";

/** Half of an interval that holds with 95%, in standard errors. */
const HALF = 1.96;
/** Half of an interval that is useful, as a part of the whole range. */
const USEFUL = 0.1;

/** How many reports there are and how many are needed. */
export interface Enough {
  /** In words, where there are too few. */
  readonly words?: string;
  /** Whether to show estimates: their intervals are less wide than the range. */
  readonly shown: boolean;
}

/** What is told of one: an estimate with its range, where that is not the estimand's. */
type Told = Pick<Row, "estimate" | "range">;

/** Tells from the standard errors, which fall with the root of the number of reports. */
export function enough(reports: number, estimand: Estimand, told: readonly Told[]): Enough {
  const whole = estimand === "mean" ? 2 : 1;
  const half = ({ estimate, range }: Told) =>
    (HALF * (estimate.standard_error ?? 0)) / (range ? range[1] - range[0] : whole);
  const widest = Math.max(0, ...told.map(half));
  if (widest <= USEFUL) return { shown: true };
  const needed = Number((reports * (widest / USEFUL) ** 2).toPrecision(2));
  const within = estimand === "mean" ? "a tenth of the range" : "10 points";
  const arrived = `${counted(reports, "report")} ${reports === 1 ? "has" : "have"} arrived`;
  return {
    words: `${arrived}. About ${count(needed)} are needed to tell each estimate within ±${within}, with 95% confidence.`,
    shown: 2 * widest < 1,
  };
}

/** The same of a number: of its mean, or of the shares of people below its edges. */
export function enoughOfNumber({ reports = 0, number }: Estimates): Enough {
  const { mean, distribution = [], range } = number ?? {};
  if (mean && range) return enough(reports, "mean", [{ estimate: mean, range }]);
  return enough(
    reports,
    "share",
    distribution.map((estimate: Estimate) => ({ estimate })),
  );
}
