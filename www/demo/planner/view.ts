// What is shown of an answer, whatever was asked.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import { days, digits, lossDigits } from "./words.js";

/** What is shown of an answer. */
export interface View {
  readonly figures: readonly Figure[];
  /** Of each question, where there are several. */
  readonly each: readonly Cost[];
  readonly tally: string;
  readonly mechanism: string;
  readonly parameters: string;
  readonly protects: string;
  readonly offers: readonly Row[];
}

/** A number of the answer. */
export type Figure = readonly [
  name: string,
  exact: number | null | undefined,
  words: string,
  note: string,
  solved?: boolean,
];

/** What one of several questions costs. */
export interface Cost {
  readonly name: string;
  readonly note: string;
  /** The part of all reports that answer it, and how many those are. */
  readonly drawn: string;
  readonly reports: string;
  /** Half-width of an interval, and in words. */
  readonly exact: number;
  readonly interval: string;
  /** What that is of. */
  readonly of: string;
  readonly solved: boolean;
  /** How many reports the same would take as ratings. */
  readonly ratings: string;
}

/** One way to ask, and what it would cost. */
export interface Row {
  readonly picked: boolean;
  readonly name: string;
  readonly note: string;
  /** Error, shuffled ε, and people for the same error. */
  readonly costs: readonly [string, string, string];
}

/** How far a mechanism is from the best, as a sentence of its own; empty where that is not known. */
export function distanceOf({ distance }: Pick<QuestionPlan, "distance">, among = ""): string {
  return distance === null ? "" : ` At this local ε${among} it ${distance.text}.`;
}

/** People, and what reports give away: figures of every survey. */
export function commonFigures(plan: Plan, { people_per_day }: Survey): Figure[] {
  const { people, days: time, solved_for, effective_epsilon, central, central_reason } = plan;
  return [
    [
      "local ε",
      effective_epsilon,
      lossDigits(effective_epsilon),
      "one report, against everybody",
      solved_for === "epsilon",
    ],
    [
      "shuffled ε",
      central?.central_epsilon,
      lossDigits(central?.central_epsilon),
      central ? `with δ = ${digits(central.delta)}` : (central_reason ?? ""),
    ],
    [
      "people",
      people,
      count(people),
      time === null ? "report once each" : `${days(time)} at ${count(people_per_day ?? 0)} a day`,
      solved_for === "people",
    ],
  ];
}
