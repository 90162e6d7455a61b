// The view of an answer, for one question or several.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import { certaintyWords, days, digits, lossDigits } from "./words.js";

/** Reports of one person in a year, under the default budget of one report in 30 days. */
const REPORTS_A_YEAR = Math.ceil(365 / 30);

/** View of an answer. */
export interface View {
  readonly figures: readonly Figure[];
  /** Cost of each question; empty for a single one. */
  readonly each: readonly Cost[];
  readonly tally: string;
  readonly mechanism: string;
  readonly parameters: string;
  readonly protects: string;
  readonly offers: readonly Row[];
}

/** Number of the answer, with its name and a note. `solved` marks the wanted one. */
export type Figure = readonly [
  name: string,
  exact: number | null | undefined,
  words: string,
  note: string,
  solved?: boolean,
];

/** Cost of one of several questions. */
export interface Cost {
  readonly name: string;
  readonly note: string;
  /** Share of all reports that answer the question. */
  readonly drawn: string;
  /** Number of these reports. */
  readonly reports: string;
  /** Half-width of the 95% interval. */
  readonly halfWidth: number;
  /** Text of the half-width, with its unit. */
  readonly interval: string;
  /** Estimate that the interval is for. */
  readonly estimate: string;
  readonly solved: boolean;
  /** Number of reports that ratings need for the same error. */
  readonly ratings: string;
}

/** One way to ask, and its cost. */
export interface Row {
  readonly chosen: boolean;
  readonly name: string;
  readonly note: string;
  /** Error, shuffled ε, and people for the same error. */
  readonly costs: readonly [string, string, string];
}

/** Returns a sentence on the distance from the best mechanism, or an empty text if unknown. */
export function distanceSentence({ distance }: Pick<QuestionPlan, "distance">, among = ""): string {
  return distance === null ? "" : ` At this local ε${among}, the mechanism ${distance.text}.`;
}

/** Returns the figures of every survey: privacy, and the number of people. */
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
