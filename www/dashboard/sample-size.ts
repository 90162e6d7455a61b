// Checks whether there are enough reports to make the intervals narrow enough to be useful.

import { formatCount, formatCountWithNoun } from "../demo/shared/format.js";
import type { Estimand, Estimate, EstimatesResponse } from "./api.js";
import type { EstimateRow } from "./rows.js";

/** Half-width of a 95% interval, as a multiple of the standard error. */
const HALF_WIDTH_STANDARD_ERRORS = 1.96;
/** Maximum half-width of a useful interval, as a fraction of the range of values. */
const MAX_USEFUL_HALF_WIDTH = 0.1;

/** Result of the check whether there are enough reports. */
export interface SampleSizeCheck {
  /** Message that there are too few reports. Undefined if there are enough. */
  readonly warning?: string;
  /**
   * True if the intervals are narrower than the range of values, so that estimates are worth
   * showing.
   */
  readonly isUseful: boolean;
}

/** Estimate, with the range of the item's values if it is not the usual range of the estimand. */
type EstimateWithValueRange = Pick<EstimateRow, "estimate" | "valueRange">;

/**
 * Checks whether there are enough reports, based on the standard errors of the estimates. A
 * standard error is inversely proportional to the square root of the number of reports.
 */
export function checkSampleSize(
  reports: number,
  estimand: Estimand,
  estimates: readonly EstimateWithValueRange[],
): SampleSizeCheck {
  const whole = estimand === "mean" ? 2 : 1;
  const half = ({ estimate, valueRange: range }: EstimateWithValueRange) =>
    (HALF_WIDTH_STANDARD_ERRORS * (estimate.standard_error ?? 0)) /
    (range ? range[1] - range[0] : whole);
  const widest = Math.max(0, ...estimates.map(half));
  if (widest <= MAX_USEFUL_HALF_WIDTH) return { isUseful: true };
  const needed = Number((reports * (widest / MAX_USEFUL_HALF_WIDTH) ** 2).toPrecision(2));
  const within = estimand === "mean" ? "a tenth of the range" : "10 percentage points";
  const arrived = `${formatCountWithNoun(reports, "report")} ${reports === 1 ? "has" : "have"} arrived`;
  return {
    warning: `${arrived}. Estimates with an error of at most ${within} need about ${formatCount(needed)} reports, with 95% confidence.`,
    isUseful: 2 * widest < 1,
  };
}

/**
 * Checks whether there are enough reports for a question that asks for a number. The check uses the
 * mean or, without one, the shares of people below the edges.
 */
export function checkNumberSampleSize({ reports = 0, number }: EstimatesResponse): SampleSizeCheck {
  const { mean, distribution = [], range } = number ?? {};
  if (mean && range)
    return checkSampleSize(reports, "mean", [{ estimate: mean, valueRange: range }]);
  return checkSampleSize(
    reports,
    "share",
    distribution.map((estimate: Estimate) => ({ estimate })),
  );
}
