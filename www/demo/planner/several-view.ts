// The content of the answer for several questions: the cost of each question, and the cost of
// alternatives.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import { ERRORS_OF } from "./single-view.js";
import { type Cost, commonFigures, type Row, type View } from "./view.js";
import { digits, lossDigits, nameOf, parametersOf, perCent } from "./words.js";

/** Returns the content to show for a plan with several questions. */
export function severalView(answer: Plan, asked: Survey): View {
  const { questions, people, effective_epsilon, central } = answer;
  const mechanisms = [...new Set(questions.map(({ mechanism }) => nameOf(mechanism)))];
  const biases = questions.flatMap(({ bias_note }) =>
    bias_note === undefined ? [] : [` ${bias_note}`],
  );
  return {
    figures: commonFigures(answer, asked),
    each: questions.map((own) => costOf(own, answer)),
    tally: [
      `${questions.length} questions`,
      `ε ${lossDigits(effective_epsilon)}`,
      `shuffled ε ${lossDigits(central?.central_epsilon)}`,
      `${count(people)} people`,
    ].join(" · "),
    mechanism: mechanisms.join(", "),
    parameters:
      "The table above lists the parameters. Each report answers one question, chosen at random by weight.",
    protects: `ε protects ${answer.protects}.${biases.join("")}`,
    offers: rowsOf(answer),
  };
}

function costOf(own: QuestionPlan, { solved_for }: Plan): Cost {
  const unit = own.unit === null ? "" : ` ${own.unit}`;
  const wanted = own.wanted === null ? "" : `; wanted interval: ±${digits(own.wanted)}${unit}`;
  return {
    name: own.name,
    note: `${nameOf(own.mechanism)}: ${parametersOf(own.mechanism)}`,
    drawn: perCent(own.share),
    reports: count(Math.round(own.reports)),
    halfWidth: own.interval,
    interval: `±${digits(own.interval)}${unit}`,
    estimate: `${ERRORS_OF[own.errors_of]}${wanted}`,
    solved: solved_for === "error",
    ratings: own.as_ratings === null ? "–" : count(Math.ceil(own.reports * own.as_ratings)),
  };
}

/** Returns a table row for each way to ask: the plan, all questions in each report, and ratings. */
function rowsOf(answer: Plan): Row[] {
  const { questions, people, effective_epsilon, central, protects, together_over_drawn } = answer;
  const chosen: Row = {
    chosen: true,
    name: "One question per report",
    note: `chosen at random by weight; local ε ${lossDigits(effective_epsilon)}; protects ${protects}`,
    costs: [times(1), lossDigits(central?.central_epsilon), count(people)],
  };
  const rows = [chosen];
  if (together_over_drawn !== null) {
    rows.push({
      chosen: false,
      name: "All questions in each report",
      note: "each report covers all questions; the error is the sum over all answers",
      costs: [times(Math.sqrt(together_over_drawn)), "–", count(people * together_over_drawn)],
    });
  }
  const rated = questions.map(({ as_ratings, reports }) => reports * (as_ratings ?? Number.NaN));
  const ratings = Math.ceil(rated.reduce((sum, own) => sum + own, 0));
  if (Number.isFinite(ratings)) {
    rows.push({
      chosen: false,
      name: "The questions, asked as ratings",
      note: "each answer becomes a rated item, and each question gets as many reports as it needs",
      costs: [times(Math.sqrt(ratings / people)), "–", count(ratings)],
    });
  }
  return rows;
}

/** Formats the ratio between an error and the error of the plan: × 1.41. */
function times(ratio: number): string {
  return `×\u00a0${digits(ratio)}`;
}
