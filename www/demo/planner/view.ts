// The content of an answer, as texts and numbers to show, for one question or several.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { formatCount } from "../shared/format.js";
import { certaintyWords, formatDays, formatLossThreeDigits, formatNumber } from "./words.js";

/**
 * Maximum number of reports of one person in a year, under the default budget of one report in 30
 * days.
 */
const MAX_REPORTS_PER_YEAR = Math.ceil(365 / 30);

/** Content of an answer, as texts and numbers to show. */
export interface PlanContent {
  readonly keyNumbers: readonly KeyNumber[];
  /** Cost of each question; empty if there is only one question. */
  readonly questionCosts: readonly QuestionCost[];
  readonly shortVerdict: string;
  readonly mechanism: string;
  readonly parameters: string;
  readonly protectionText: string;
  readonly comparisonRows: readonly ComparisonRow[];
}

/**
 * Key number of an answer, with its name and a note. `solved` is true for the number that the
 * planner was asked for.
 */
export type KeyNumber = readonly [
  name: string,
  exact: number | null | undefined,
  words: string,
  note: string,
  solved?: boolean,
];

/** Cost and accuracy of one of several questions. */
export interface QuestionCost {
  readonly name: string;
  readonly note: string;
  /** Share of all reports that answer this question. */
  readonly reportShare: string;
  /** Number of reports that answer this question. */
  readonly reports: string;
  /** Half-width of the 95% interval. */
  readonly halfWidth: number;
  /** Half-width of the 95% interval as text, with its unit. */
  readonly intervalText: string;
  /** Estimate to which the interval belongs. */
  readonly estimate: string;
  readonly solved: boolean;
  /**
   * Number of reports that would be needed for the same error if the question were asked as
   * ratings.
   */
  readonly reportsAsRatings: string;
}

/** Table row for one way to ask, with its cost. */
export interface ComparisonRow {
  readonly chosen: boolean;
  readonly name: string;
  readonly note: string;
  /** Error, shuffled ε, and number of people that reach the same error. */
  readonly errorEpsilonAndPeople: readonly [string, string, string];
}

/**
 * Returns a sentence on how close the mechanism is to the best possible one. Returns an empty text
 * if this distance is unknown. `among` is a further condition, which follows the words "At this
 * local ε".
 */
export function optimalityGapSentence(
  { distance }: Pick<QuestionPlan, "distance">,
  among = "",
): string {
  return distance === null ? "" : ` At this local ε${among}, the mechanism ${distance.text}.`;
}

/** Returns the key numbers that every survey has: privacy, and the number of people. */
export function commonKeyNumbers(plan: Plan, { people_per_day }: Survey): KeyNumber[] {
  const { people, days: time, solved_for, effective_epsilon, central, central_reason } = plan;
  return [
    [
      "local ε",
      effective_epsilon,
      formatLossThreeDigits(effective_epsilon),
      `one report: ${certaintyWords(effective_epsilon)}; ${MAX_REPORTS_PER_YEAR} reports a year: ε\u00a0=\u00a0${formatLossThreeDigits(MAX_REPORTS_PER_YEAR * effective_epsilon)}`,
      solved_for === "epsilon",
    ],
    [
      "shuffled ε",
      central?.central_epsilon,
      formatLossThreeDigits(central?.central_epsilon),
      central
        ? `against anyone who sees only the batch; δ = ${formatNumber(central.delta)}`
        : (central_reason ?? ""),
    ],
    [
      "people",
      people,
      formatCount(people),
      time === null
        ? "who send one report each"
        : `${formatDays(time)} at ${formatCount(people_per_day ?? 0)} reports per day`,
      solved_for === "people",
    ],
  ];
}
