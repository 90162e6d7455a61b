// The view of a web vital: its rating by Google's thresholds, and the shares of people below them.

import { WEB_VITALS_THRESHOLDS } from "../client/web-vitals-thresholds.js";
import { el } from "../demo/shared/dom.js";
import type { NumberEstimates, Question } from "./api.js";
import { formatNumber, shareText } from "./labels.js";
import { createTable } from "./table.js";

/** Quantile by which Google rates a web vital. */
const RATED_QUANTILE = 0.75;

/**
 * Returns the rating of a number that lies between `from` and `to`. If both ends have different
 * ratings, the result names all that are possible.
 */
export function webVitalRating(
  [from, to]: readonly [number, number],
  [good, poor]: readonly [number, number],
): string {
  if (to <= good) return "Good";
  if (from >= poor) return "Poor";
  if (from >= good) return to <= poor ? "Needs improvement" : "Needs improvement, or poor";
  return to <= poor ? "Good, or needs improvement" : "Undecided";
}

/**
 * Draws the rating of a web vital. The result is empty for other questions, and for bins that do
 * not end at the thresholds.
 */
export function webVitalView(
  { distribution = [], quantiles = [] }: NumberEstimates,
  question: Question,
  unit: string,
): readonly Element[] {
  const thresholds: Readonly<Record<string, readonly [number, number]>> = WEB_VITALS_THRESHOLDS;
  const own = Object.hasOwn(thresholds, question.name ?? "")
    ? thresholds[question.name ?? ""]
    : undefined;
  const rated = quantiles.find(({ quantile }) => quantile === RATED_QUANTILE);
  if (own === undefined || rated === undefined) return [];
  // With a step, the edge after a possible number is half a step above that number.
  const [good, poor] = own.map((threshold) =>
    distribution.find(
      ({ below }) => below >= threshold && below - threshold <= (question.step ?? 0) / 2,
    ),
  );
  if (good === undefined || poor === undefined) return [];
  const [first, second] = own.map((threshold) => formatNumber(threshold) + unit);
  const rows = (
    [
      [`Good: up to ${first}`, good],
      [`Not poor: up to ${second}`, poor],
    ] as const
  ).map(([label, share]) => [
    label,
    { content: shareText(share.estimate), style: "amount estimated" },
    { content: share.simultaneous_interval.map(shareText).join(" to "), style: "amount interval" },
  ]);
  return [
    el(
      "p",
      { class: "figure" },
      el("strong", {}, webVitalRating(rated.simultaneous_interval, own)),
      " at the 75th percentile",
      el("span", { class: "soft" }, ` by Google's thresholds of ${first} and ${second}`),
    ),
    createTable(
      "Shares by Google's thresholds, of people with and without a value",
      [
        "Rating",
        { content: "Share of all people", style: "amount" },
        { content: "Simultaneous interval", style: "amount" },
      ],
      rows,
    ),
  ];
}
