// The content of an answer, as texts and numbers to show, for one question or several.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import { certaintyWords, days, digits, lossDigits } from "./words.js";

/**
 * Maximum number of reports of one person in a year, under the default budget of one report in 30
 * days.
 */
const REPORTS_A_YEAR = Math.ceil(365 / 30);

/** Content of an answer, as texts and numbers to show. */
export interface View {
  readonly figures: readonly Figure[];
  /** Cost of each question; empty if there is only one question. */
  readonly each: readonly Cost[];
  readonly tally: string;
  readonly mechanism: string;
  readonly parameters: string;
  readonly protects: string;
  readonly offers: readonly Row[];
}

/**
 * Key number of an answer, with its name and a note. `solved` is true for the number that the
 * planner was asked for.
 */
export type Figure = readonly [
  name: string,
  exact: number | null | undefined,
  words: string,
  note: string,
  solved?: boolean,
];

/** Cost and accuracy of one of several questions. */
export interface Cost {
  readonly name: string;
  readonly note: string;
  /** Share of all reports that answer this question. */
  readonly drawn: string;
  /** Number of reports that answer this question. */
  readonly reports: string;
  /** Half-width of the 95% interval. */
  readonly halfWidth: number;
  /** Half-width of the 95% interval as text, with its unit. */
  readonly interval: string;
  /** Estimate to which the interval belongs. */
  readonly estimate: string;
  readonly solved: boolean;
  /**
   * Number of reports that would be needed for the same error if the question were asked as
   * ratings.
   */
  readonly ratings: string;
}

/** Table row for one way to ask, with its cost. */
export interface Row {
  readonly chosen: boolean;
  readonly name: string;
  readonly note: string;
  /** Error, shuffled ε, and number of people that reach the same error. */
  readonly costs: readonly [string, string, string];
}

/**
 * Returns a sentence on how close the mechanism is to the best possible one, or an empty text if
 * that is unknown. `among` is a further condition.
 */
export function distanceSentence({ distance }: Pick<QuestionPlan, "distance">, among = ""): string {
  return distance === null ? "" : ` At this local ε${among}, the mechanism ${distance.text}.`;
}

/** Returns the key numbers that every survey has: privacy, and the number of people. */
export function commonFigures(plan: Plan, { people_per_day }: Survey): Figure[] {
  const { people, days: time, solved_for, effective_epsilon, central, central_reason } = plan;
  return [
    [
      "local ε",
      effective_epsilon,
      lossDigits(effective_epsilon),
      `one report: ${certaintyWords(effective_epsilon)}; ${REPORTS_A_YEAR} reports a year: ε\u00a0=\u00a0${lossDigits(REPORTS_A_YEAR * effective_epsilon)}`,
      solved_for === "epsilon",
    ],
    [
      "shuffled ε",
      central?.central_epsilon,
      lossDigits(central?.central_epsilon),
      central
        ? `against anyone who sees only the batch; δ = ${digits(central.delta)}`
        : (central_reason ?? ""),
    ],
    [
      "people",
      people,
      count(people),
      time === null
        ? "who send one report each"
        : `${days(time)} at ${count(people_per_day ?? 0)} reports per day`,
      solved_for === "people",
    ],
  ];
}
