// Time lines: the estimates of a few items in each release.

import { displayedName } from "../client/displayed-name.js";
import type { Estimand, Estimate, EstimatesResponse, Question } from "./api.js";
import { conditionalMeanRows } from "./cross.js";
import { itemName } from "./labels.js";

/** Maximum number of releases in a time line, and maximum number of time lines. */
export const MAX_RELEASES = 24;
export const MAX_LINES = 6;

/** Point of a time line: the estimate in one batch, or `null` if the batch has no estimate. */
export interface TimeLinePoint {
  readonly batch: number;
  readonly estimate: Estimate | null;
}

export interface TimeLine {
  readonly label: string;
  readonly points: readonly TimeLinePoint[];
}

/**
 * Returns the confidence at which to compute the intervals of each of several batches. The
 * intervals of all batches then hold at once with the given confidence.
 */
export function confidencePerBatch(batches: number, confidence: number): number {
  return 1 - (1 - confidence) / Math.max(batches, 1);
}

/** Returns a time line for each of the labelled items, with a point for each batch. */
export function itemTimeLines(
  labels: readonly string[],
  estimand: Estimand,
  answers: readonly (readonly [batch: number, answer: EstimatesResponse])[],
): readonly TimeLine[] {
  const byLabel = answers.map(
    ([batch, { estimates }]) =>
      [
        batch,
        new Map(estimates.map((own) => [itemName(own.item), own[estimand] ?? null])),
      ] as const,
  );
  return labels.map((label) => ({
    label,
    points: byLabel.map(([batch, own]) => ({ batch, estimate: own.get(label) ?? null })),
  }));
}

/**
 * Returns the time lines for a question that asks for a number. They show its mean, its means
 * within rows of a cross-tabulation, or its quantiles.
 */
export function numberTimeLines(
  question: Question,
  answers: readonly (readonly [batch: number, answer: EstimatesResponse])[],
): readonly TimeLine[] {
  const points = (of: (answer: EstimatesResponse) => Estimate | undefined) =>
    answers.map(([batch, answer]) => ({ batch, estimate: of(answer) ?? null }));
  const latest = answers[answers.length - 1]?.[1];
  const means = latest === undefined ? [] : conditionalMeanRows(latest);
  if (means.length > 0)
    return means.slice(0, MAX_LINES).map(({ label, unit }) => ({
      label: labelWithUnit(label, unit),
      points: points((a) => conditionalMeanRows(a).find((own) => own.label === label)?.estimate),
    }));
  const last = latest?.number;
  const name = displayedName(question.name ?? "");
  if (last?.mean)
    return [
      { label: labelWithUnit(`mean of ${name}`, last.unit), points: points((a) => a.number?.mean) },
    ];
  return (last?.quantiles ?? []).map(({ quantile }) => ({
    label: labelWithUnit(quantileName(quantile), last?.unit),
    points: points((a) => a.number?.quantiles?.find((own) => own.quantile === quantile)),
  }));
}

/** Returns a label with the unit in parentheses, if there is a unit. */
export const labelWithUnit = (label: string, unit: string | undefined): string =>
  unit === undefined ? label : `${label} (${displayedName(unit)})`;

/** Returns the name of a quantile, such as "median" or "90% quantile". */
export function quantileName(quantile: number): string {
  return quantile === 0.5 ? "median" : `${Number((quantile * 100).toFixed(3))}% quantile`;
}
