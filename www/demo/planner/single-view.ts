// The content of the answer for one question, in words that fit the kind of question.

import type { Alternative, Plan, QuestionPlan, Survey } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import { commonFigures, distanceSentence, type Figure, type Row, type View } from "./view.js";
import { digits, lossDigits, nameOf, parametersOf, perCent } from "./words.js";

/** Descriptions of the estimate to which the stated errors apply. */
export const ERRORS_OF: Readonly<Record<QuestionPlan["errors_of"], string>> = {
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
export function singleView(answer: Plan, asked: Survey): View {
  const [own] = answer.questions;
  if (!own) throw new Error("a survey asks a question");
  const { mechanism, cells, sparsity, kind } = own;
  const parts = cells === null ? "" : `; ${cells} ${cellsOf(own)}`;
  const rated = own.errors_of === "items";
  const among = kind === "set" || rated ? `; sparsity ${sparsity}` : "";
  const asOne =
    kind === "together" ? `; ${sparsity} parts with ${own.answers} options in total` : "";
  const bias = own.bias_note === undefined ? "" : ` ${own.bias_note}`;
  const figures = rated ? itemFigures(own, answer) : figuresOf(own, answer);
  return {
    figures: [...figures, ...commonFigures(answer, asked)],
    each: [],
    tally: [
      rated ? `error ${digits(own.error)}` : `±${digits(own.interval)}`,
      `ε ${lossDigits(answer.effective_epsilon)}`,
      `shuffled ε ${lossDigits(answer.central?.central_epsilon)}`,
      `${count(answer.people)} people`,
    ].join(" · "),
    mechanism: nameOf(mechanism),
    parameters: `${parametersOf(mechanism)}${parts}${among}${asOne}.`,
    protects: `ε protects ${answer.protects}.${distanceSentence(own, own.errors_of === "share" ? ", and if all answers are equally common" : "")}${bias}`,
    offers: rowsOf(own, answer),
  };
}

function cellsOf({ errors_of }: QuestionPlan): string {
  return errors_of === "conditional-mean" ? "levels" : "bins";
}

function figuresOf(own: QuestionPlan, { solved_for }: Plan): Figure[] {
  const { standard_error, interval, simultaneous_interval, wanted, smallest } = own;
  const together =
    simultaneous_interval === interval
      ? ""
      : `; for all rows at once: ±${digits(simultaneous_interval)}`;
  const goal = wanted === null ? "" : `; wanted interval: ±${digits(wanted)}`;
  const of = ERRORS_OF[own.errors_of];
  return [
    [
      "standard error",
      standard_error,
      digits(standard_error),
      `${of}, in the worst case over answers`,
      solved_for === "error",
    ],
    ["95% interval", interval, `±${digits(interval)}`, `${of}${together}${goal}`],
    own.errors_of === "share"
      ? [
          "smallest detectable share",
          smallest,
          smallest === null ? "none" : perCent(smallest),
          "share of people that stands out from 0 with a probability of 80%",
        ]
      : [
          "relative interval",
          own.interval / own.range,
          perCent(own.interval / own.range),
          rangeOf(own),
        ],
  ];
}

/** Returns the key numbers of ratings. Their errors are averages over all items. */
function itemFigures(own: QuestionPlan, { solved_for }: Plan): Figure[] {
  const { bias, error, interval, smallest } = own;
  const biased = bias !== null && bias > 0;
  return [
    [
      biased ? "error" : "standard error",
      error,
      digits(error),
      biased
        ? `root mean square, with ${digits(own.standard_error)} from noise and up to ${digits(bias)} from bias`
        : ERRORS_OF.items,
      solved_for === "error",
    ],
    [
      "95% interval",
      interval,
      `±${digits(interval)}`,
      `for one item; for all items at once: ±${digits(own.simultaneous_interval)}`,
    ],
    [
      "smallest detectable frequency",
      smallest,
      smallest === null ? "none" : perCent(smallest),
      "share of people that stands out from 0 with a probability of 80%",
    ],
  ];
}

function rangeOf({ range }: QuestionPlan): string {
  return `half-width divided by the range, which is ${digits(range)} wide`;
}

/** Returns table rows for the plan, for every alternative, and for ratings. */
function rowsOf(own: QuestionPlan, answer: Plan): Row[] {
  const { people, effective_epsilon, central, protects, others } = answer;
  const rated = own.errors_of === "items";
  const asked = rated ? `sparsity ${own.sparsity}` : `asked as ${KIND_NAMES[own.kind] ?? own.kind}`;
  const chosen: Row = {
    chosen: true,
    name: nameOf(own.mechanism),
    note: `${asked}; local ε ${lossDigits(effective_epsilon)}; protects ${protects}`,
    costs: [errorOf(own.error, own.bias), lossDigits(central?.central_epsilon), count(people)],
  };
  const rows = [chosen, ...others.map(otherRow)];
  if (own.as_ratings === null) return rows;
  const ratings: Row = {
    chosen: false,
    name: "The question, asked as ratings",
    note: "each answer becomes a rated item, at the same local ε",
    costs: [
      digits(own.standard_error * Math.sqrt(own.as_ratings)),
      "–",
      count(Math.ceil(people * own.as_ratings)),
    ],
  };
  return [...rows, ratings];
}

function otherRow({ mechanism, sparsity, people, ...other }: Alternative): Row {
  return {
    chosen: false,
    name: nameOf(mechanism),
    note: `sparsity ${sparsity}; local ε ${lossDigits(other.effective_epsilon)}; protects ${other.protects}`,
    costs: [
      errorOf(other.error, other.bias),
      lossDigits(other.central?.central_epsilon),
      people === null ? "–" : count(people),
    ],
  };
}

function errorOf(error: number | null, bias: number | null): string {
  const biased = bias !== null && bias > 0 ? `, including a bias of up to ${digits(bias)}` : "";
  return `${digits(error)}${biased}`;
}
