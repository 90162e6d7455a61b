// The answer about several questions: what each costs, and what the other ways to ask would.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import { ERRORS_OF } from "./sole.js";
import { type Cost, commonFigures, type Row, type View } from "./view.js";
import { digits, lossDigits, nameOf, parametersOf, perCent } from "./words.js";

/** Shows the plan of several questions. */
export function eachView(answer: Plan, asked: Survey): View {
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
      `shuffled ${lossDigits(central?.central_epsilon)}`,
      `${count(people)} people`,
    ].join(" · "),
    mechanism: mechanisms.join(", "),
    parameters: "Of each question above; a report's seed draws which one it answers, by weight.",
    protects: `ε is about ${answer.protects}.${biases.join("")}`,
    offers: rowsOf(answer),
  };
}

function costOf(own: QuestionPlan, { solved_for }: Plan): Cost {
  const unit = own.unit === null ? "" : ` ${own.unit}`;
  const wanted = own.wanted === null ? "" : `, wanted ±${digits(own.wanted)}${unit}`;
  return {
    name: own.name,
    note: `${nameOf(own.mechanism)}: ${parametersOf(own.mechanism)}`,
    drawn: perCent(own.share),
    reports: count(Math.round(own.reports)),
    exact: own.interval,
    interval: `±${digits(own.interval)}${unit}`,
    of: `${ERRORS_OF[own.errors_of]}${wanted}`,
    solved: solved_for === "error",
    ratings: own.as_ratings === null ? "–" : count(Math.ceil(own.reports * own.as_ratings)),
  };
}

/** The plan, all questions as one, and all of them as ratings. */
function rowsOf(answer: Plan): Row[] {
  const { questions, people, effective_epsilon, central, protects, together_over_drawn } = answer;
  const picked: Row = {
    picked: true,
    name: "One question a report",
    note: `drawn by weight, local ε ${lossDigits(effective_epsilon)}; protects ${protects}`,
    costs: [times(1), lossDigits(central?.central_epsilon), count(people)],
  };
  const rows = [picked];
  if (together_over_drawn !== null) {
    rows.push({
      picked: false,
      name: "All as one, asked together",
      note: "each report tells of all questions at once; over all answers in sum",
      costs: [times(Math.sqrt(together_over_drawn)), "–", count(people * together_over_drawn)],
    });
  }
  const rated = questions.map(({ as_ratings, reports }) => reports * (as_ratings ?? Number.NaN));
  const ratings = Math.ceil(rated.reduce((sum, own) => sum + own, 0));
  if (Number.isFinite(ratings)) {
    rows.push({
      picked: false,
      name: "The same as ratings",
      note: "each answer an item that is rated; questions drawn as often as that takes",
      costs: [times(Math.sqrt(ratings / people)), "–", count(ratings)],
    });
  }
  return rows;
}

/** An error, in that of the plan. */
function times(ratio: number): string {
  return `×\u00a0${digits(ratio)}`;
}
