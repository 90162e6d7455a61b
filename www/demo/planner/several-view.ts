// The content of the answer for several questions: the cost of each question, and the cost of
// alternatives.

import type { Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { formatCount } from "../shared/format.js";
import { ESTIMATE_DESCRIPTIONS } from "./single-view.js";
import {
  type ComparisonRow,
  commonKeyNumbers,
  type PlanContent,
  type QuestionCost,
} from "./view.js";
import {
  formatFrequency,
  formatLossThreeDigits,
  formatNumber,
  mechanismName,
  mechanismParameters,
} from "./words.js";

/** Returns the content to show for a plan with several questions. */
export function severalQuestionsContent(answer: Plan, asked: Survey): PlanContent {
  const { questions, people, effective_epsilon, central } = answer;
  const mechanisms = [...new Set(questions.map(({ mechanism }) => mechanismName(mechanism)))];
  const biases = questions.flatMap(({ bias_note }) =>
    bias_note === undefined ? [] : [` ${bias_note}`],
  );
  return {
    keyNumbers: commonKeyNumbers(answer, asked),
    questionCosts: questions.map((own) => questionCost(own, answer)),
    shortVerdict: [
      `${questions.length} questions`,
      `ε ${formatLossThreeDigits(effective_epsilon)}`,
      `shuffled ε ${formatLossThreeDigits(central?.central_epsilon)}`,
      `${formatCount(people)} people`,
    ].join(" · "),
    mechanism: mechanisms.join(", "),
    parameters:
      "The table above lists the parameters. Each report answers one question, chosen at random by weight.",
    protectionText: `ε protects ${answer.protects}.${biases.join("")}`,
    comparisonRows: comparisonRows(answer),
  };
}

function questionCost(own: QuestionPlan, { solved_for }: Plan): QuestionCost {
  const unit = own.unit === null ? "" : ` ${own.unit}`;
  const wanted =
    own.wanted_half_width === null
      ? ""
      : `; wanted interval: ±${formatNumber(own.wanted_half_width)}${unit}`;
  return {
    name: own.name,
    note: `${mechanismName(own.mechanism)}: ${mechanismParameters(own.mechanism)}`,
    reportShare: formatFrequency(own.share),
    reports: formatCount(Math.round(own.reports)),
    halfWidth: own.half_width,
    intervalText: `±${formatNumber(own.half_width)}${unit}`,
    estimate: `${ESTIMATE_DESCRIPTIONS[own.errors_of]}${wanted}`,
    solved: solved_for === "error",
    reportsAsRatings:
      own.as_ratings === null ? "–" : formatCount(Math.ceil(own.reports * own.as_ratings)),
  };
}

/**
 * Returns a table row for each way to ask: one question per report, as in the plan; all questions
 * in each report; and ratings.
 */
function comparisonRows(answer: Plan): ComparisonRow[] {
  const { questions, people, effective_epsilon, central, protects, together_over_drawn } = answer;
  const chosen: ComparisonRow = {
    chosen: true,
    name: "One question per report",
    note: `chosen at random by weight; local ε ${formatLossThreeDigits(effective_epsilon)}; protects ${protects}`,
    errorEpsilonAndPeople: [
      formatErrorRatio(1),
      formatLossThreeDigits(central?.central_epsilon),
      formatCount(people),
    ],
  };
  const rows = [chosen];
  if (together_over_drawn !== null) {
    rows.push({
      chosen: false,
      name: "All questions in each report",
      note: "each report covers all questions; the error is the sum over all answers",
      errorEpsilonAndPeople: [
        formatErrorRatio(Math.sqrt(together_over_drawn)),
        "–",
        formatCount(people * together_over_drawn),
      ],
    });
  }
  const rated = questions.map(({ as_ratings, reports }) => reports * (as_ratings ?? Number.NaN));
  const ratings = Math.ceil(rated.reduce((sum, own) => sum + own, 0));
  if (Number.isFinite(ratings)) {
    rows.push({
      chosen: false,
      name: "The same questions in the form of ratings",
      note: "each answer becomes a rated item, and each question gets as many reports as it needs",
      errorEpsilonAndPeople: [
        formatErrorRatio(Math.sqrt(ratings / people)),
        "–",
        formatCount(ratings),
      ],
    });
  }
  return rows;
}

/** Formats an error divided by the plan's error: × 1.41. */
function formatErrorRatio(ratio: number): string {
  return `×\u00a0${formatNumber(ratio)}`;
}
