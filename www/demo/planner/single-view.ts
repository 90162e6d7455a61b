// The content of the answer for one question, in words that fit the kind of question.

import type { AlternativeMechanism, Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { formatCount } from "../shared/format.js";
import {
  type ComparisonRow,
  commonKeyNumbers,
  type KeyNumber,
  optimalityGapSentence,
  type PlanContent,
} from "./view.js";
import {
  formatFrequency,
  formatLossThreeDigits,
  formatNumber,
  mechanismName,
  mechanismParameters,
} from "./words.js";

/** Descriptions of the estimate whose errors are stated. */
export const ESTIMATE_DESCRIPTIONS: Readonly<Record<QuestionPlan["errors_of"], string>> = {
  share: "for the estimate of a share, from 0 to 1",
  mean: "for the estimated mean, in the unit of the number",
  "conditional-mean":
    "for the estimated mean of one row, if all rows have the same number of people",
  "quantile-share": "for the estimated share of people below the quantile, from 0 to 1",
  quantile: "for the estimated quantile, in the unit of the number",
  items: "root mean square over all items",
};

/** Names of the kinds of questions. */
const KIND_NAMES: Readonly<Record<string, string>> = {
  flag: "yes or no",
  choice: "a choice",
  set: "a set",
  number: "a number",
  numbers: "several numbers",
  cross: "two answers combined",
  together: "one combined question",
  text: "a text",
};

/** Returns the content to show for a plan with one question. */
export function singleQuestionContent(answer: Plan, asked: Survey): PlanContent {
  const [own] = answer.questions;
  if (!own) throw new Error("a survey asks a question");
  const { mechanism, cells, sparsity, kind } = own;
  const parts = cells === null ? "" : `; ${cells} ${cellNoun(own)}`;
  const rated = own.errors_of === "items";
  const among = kind === "set" || rated ? `; sparsity ${sparsity}` : "";
  const asOne =
    kind === "together" ? `; ${sparsity} parts with ${own.answers} options in total` : "";
  const bias = own.bias_note === undefined ? "" : ` ${own.bias_note}`;
  const figures = rated ? ratingsKeyNumbers(own, answer) : keyNumbers(own, answer);
  return {
    keyNumbers: [...figures, ...commonKeyNumbers(answer, asked)],
    questionCosts: [],
    shortVerdict: [
      rated ? `error ${formatNumber(own.error)}` : `±${formatNumber(own.half_width)}`,
      `ε ${formatLossThreeDigits(answer.effective_epsilon)}`,
      `shuffled ε ${formatLossThreeDigits(answer.central?.central_epsilon)}`,
      `${formatCount(answer.people)} people`,
    ].join(" · "),
    mechanism: mechanismName(mechanism),
    parameters: `${mechanismParameters(mechanism)}${parts}${among}${asOne}.`,
    protectionText: `ε protects ${answer.protects}.${optimalityGapSentence(own, own.errors_of === "share" ? ", and if all answers are equally common" : "")}${bias}`,
    comparisonRows: comparisonRows(own, answer),
  };
}

function cellNoun({ errors_of }: QuestionPlan): string {
  return errors_of === "conditional-mean" ? "levels" : "bins";
}

function keyNumbers(own: QuestionPlan, { solved_for }: Plan): KeyNumber[] {
  const {
    standard_error,
    half_width: interval,
    simultaneous_half_width: simultaneous,
    wanted_half_width: wanted,
    smallest_frequency: smallest,
  } = own;
  const together =
    simultaneous === interval ? "" : `; for all rows at once: ±${formatNumber(simultaneous)}`;
  const goal = wanted === null ? "" : `; wanted interval: ±${formatNumber(wanted)}`;
  const of = ESTIMATE_DESCRIPTIONS[own.errors_of];
  return [
    [
      "standard error",
      standard_error,
      formatNumber(standard_error),
      `${of}, in the worst case over answers`,
      solved_for === "error",
    ],
    ["95% interval", interval, `±${formatNumber(interval)}`, `${of}${together}${goal}`],
    own.errors_of === "share"
      ? [
          "smallest detectable share",
          smallest,
          smallest === null ? "none" : formatFrequency(smallest),
          "share of people that stands out from 0 with a probability of 80%",
        ]
      : [
          "relative interval",
          own.half_width / own.range,
          formatFrequency(own.half_width / own.range),
          relativeIntervalNote(own),
        ],
  ];
}

/** Returns the key numbers of ratings. Their errors are averages over all items. */
function ratingsKeyNumbers(own: QuestionPlan, { solved_for }: Plan): KeyNumber[] {
  const { bias, error, half_width: interval, smallest_frequency: smallest } = own;
  const biased = bias !== null && bias > 0;
  return [
    [
      biased ? "error" : "standard error",
      error,
      formatNumber(error),
      biased
        ? `root mean square, with ${formatNumber(own.standard_error)} from noise and up to ${formatNumber(bias)} from bias`
        : ESTIMATE_DESCRIPTIONS.items,
      solved_for === "error",
    ],
    [
      "95% interval",
      interval,
      `±${formatNumber(interval)}`,
      `for one item; for all items at once: ±${formatNumber(own.simultaneous_half_width)}`,
    ],
    [
      "smallest detectable frequency",
      smallest,
      smallest === null ? "none" : formatFrequency(smallest),
      "share of people that stands out from 0 with a probability of 80%",
    ],
  ];
}

function relativeIntervalNote({ range }: QuestionPlan): string {
  return `half-width divided by the range, which is ${formatNumber(range)} wide`;
}

/**
 * Returns one table row for the plan, and one for each alternative. A last row is for the same
 * question asked as ratings, unless `own.as_ratings` is null.
 */
function comparisonRows(own: QuestionPlan, answer: Plan): ComparisonRow[] {
  const { people, effective_epsilon, central, protects, others } = answer;
  const rated = own.errors_of === "items";
  const asked = rated ? `sparsity ${own.sparsity}` : `asked as ${KIND_NAMES[own.kind] ?? own.kind}`;
  const chosen: ComparisonRow = {
    chosen: true,
    name: mechanismName(own.mechanism),
    note: `${asked}; local ε ${formatLossThreeDigits(effective_epsilon)}; protects ${protects}`,
    errorEpsilonAndPeople: [
      formatErrorAndBias(own.error, own.bias),
      formatLossThreeDigits(central?.central_epsilon),
      formatCount(people),
    ],
  };
  const rows = [chosen, ...others.map(alternativeRow)];
  if (own.as_ratings === null) return rows;
  const ratings: ComparisonRow = {
    chosen: false,
    name: "The same question in the form of ratings",
    note: "each answer becomes a rated item, at the same local ε",
    errorEpsilonAndPeople: [
      formatNumber(own.standard_error * Math.sqrt(own.as_ratings)),
      "–",
      formatCount(Math.ceil(people * own.as_ratings)),
    ],
  };
  return [...rows, ratings];
}

function alternativeRow({
  mechanism,
  sparsity,
  people,
  ...other
}: AlternativeMechanism): ComparisonRow {
  return {
    chosen: false,
    name: mechanismName(mechanism),
    note: `sparsity ${sparsity}; local ε ${formatLossThreeDigits(other.effective_epsilon)}; protects ${other.protects}`,
    errorEpsilonAndPeople: [
      formatErrorAndBias(other.error, other.bias),
      formatLossThreeDigits(other.central?.central_epsilon),
      people === null ? "–" : formatCount(people),
    ],
  };
}

function formatErrorAndBias(error: number | null, bias: number | null): string {
  const biased =
    bias !== null && bias > 0 ? `, including a bias of up to ${formatNumber(bias)}` : "";
  return `${formatNumber(error)}${biased}`;
}
