// The answer about a question of a kind, in the question's own words.

import type { QuestionAnswer, Survey, SurveyAnswer } from "../shared/analysis.js";
import { count } from "../shared/format.js";
import type { Asking } from "./state.js";
import { commonFigures, distanceOf, type Figure, optionsOf, type Row, type View } from "./view.js";
import { digits, lossDigits, nameOf, parametersOf, perCent } from "./words.js";

/** What errors are of. */
export const ERRORS_OF: Readonly<Record<QuestionAnswer["errors_of"], string>> = {
  share: "of a share from 0 to 1",
  mean: "of the mean, in its unit",
  "conditional-mean": "of the mean within a row of even size, in its unit",
  "quantile-share": "of the share below the quantile, from 0 to 1",
  quantile: "of the quantile, in its unit",
};

/** What is asked, by its kind. */
const AS: Readonly<Record<string, string>> = {
  flag: "a yes or no",
  choice: "a choice",
  set: "a set",
  number: "a number",
  numbers: "numbers of every person",
  cross: "a choice of cells",
  together: "one question about all",
  text: "a text",
};

/** What is shown of an answer about one question. */
export function surveyView(answer: SurveyAnswer, asked: Asking): View {
  const [own] = answer.questions;
  if (!own) throw new Error("a survey asks a question");
  const { mechanism, cells, sparsity, kind } = own;
  const tree = own.tree?.length ? ` in a tree of ${own.tree.join(" by ")}` : "";
  const parts = cells === null ? "" : `; ${cells} ${cellsOf(own)}${tree}`;
  const among = kind === "set" ? `; sparsity ${sparsity}` : "";
  const asOne = kind === "together" ? `; ${sparsity} parts of ${own.answers} options in all` : "";
  const bias = own.bias === undefined ? "" : ` ${own.bias}`;
  return {
    figures: [...figuresOf(own, answer), ...commonFigures(answer, asked)],
    each: [],
    tally: [
      `±${digits(own.interval)}`,
      `ε ${lossDigits(answer.effective_epsilon)}`,
      `shuffled ${lossDigits(answer.central?.central_epsilon)}`,
      `${count(answer.people)} people`,
    ].join(" · "),
    mechanism: nameOf(mechanism),
    parameters: `${parametersOf(mechanism)}${parts}${among}${asOne}.`,
    protects: `ε is about ${answer.protects}.${distanceOf(own, own.errors_of === "share" ? ", with answers given evenly," : "")}${bias}`,
    offers: rowsOf(own, answer),
  };
}

function cellsOf({ errors_of }: QuestionAnswer): string {
  return errors_of === "mean" || errors_of === "conditional-mean" ? "levels" : "bins";
}

function figuresOf(own: QuestionAnswer, { solved_for }: SurveyAnswer): Figure[] {
  const { standard_error, interval, simultaneous_interval, wanted, smallest } = own;
  const together =
    simultaneous_interval === interval ? "" : `; of all at once ±${digits(simultaneous_interval)}`;
  const goal = wanted === null ? "" : `; wanted ±${digits(wanted)}`;
  const of = ERRORS_OF[own.errors_of];
  return [
    [
      "standard error",
      standard_error,
      digits(standard_error),
      `${of}, whatever people answer`,
      solved_for === "error",
    ],
    ["95% interval", interval, `±${digits(interval)}`, `${of}${together}${goal}`],
    own.errors_of === "share"
      ? [
          "smallest share seen",
          smallest,
          smallest === null ? "none" : perCent(smallest),
          "of people; four times out of five",
        ]
      : [
          "error, of the range",
          own.interval / own.range,
          perCent(own.interval / own.range),
          rangeOf(own),
        ],
  ];
}

function rangeOf({ range }: QuestionAnswer): string {
  return `half-width of the interval; the range is ${digits(range)} wide`;
}

/** The plan, and the same answers as ratings of items. */
function rowsOf(own: QuestionAnswer, answer: SurveyAnswer): Row[] {
  const { people, effective_epsilon, central, protects } = answer;
  const shuffled = lossDigits(central?.central_epsilon);
  const picked: Row = {
    picked: true,
    name: nameOf(own.mechanism),
    note: `asked as ${AS[own.kind] ?? own.kind}, local ε ${lossDigits(effective_epsilon)}; protects ${protects}`,
    costs: [digits(own.standard_error), shuffled, count(people)],
  };
  if (own.as_ratings === null) return [picked];
  const ratings: Row = {
    picked: false,
    name: "The same as ratings",
    note: "each answer an item that is rated, at the same local ε",
    costs: [
      digits(own.standard_error * Math.sqrt(own.as_ratings)),
      "–",
      count(Math.ceil(people * own.as_ratings)),
    ],
  };
  return [picked, ratings];
}

/** What a question is of, as the command has it. */
function partsOf(kind: string, of: readonly Record<string, unknown>[]): object {
  const [first = {}, { options: columns, min, max } = {}] = of;
  if (kind === "numbers") return { numbers: of.length, min: first.min, max: first.max };
  if (kind === "together") return { options: of.map(({ options = 2 }) => options).join(",") };
  if (kind !== "cross") return {};
  const { options } = first;
  return columns === undefined ? { options, min, max } : { options, columns };
}

/** The command that answers the same, in parts; of several questions `id` is the task's. */
export function surveyCommand(asked: Survey, id: string): string[] | null {
  const { questions, wanted, ...known } = asked;
  const [question] = questions;
  if (!question) return null;
  // Options of the command are of one kind.
  if (questions.length > 1) return commandOfFile(asked, id);
  const { name, of, ...fields } = question;
  return [
    "hushbin plan",
    ...optionsOf(fields),
    ...optionsOf(partsOf(question.kind, Array.isArray(of) ? of : [])),
    ...optionsOf(wanted?.[name] ?? {}),
    ...optionsOf(known),
  ];
}

/** The command that takes questions as a file; neither names nor numbers have an apostrophe. */
function commandOfFile({ questions, wanted, ...known }: Survey, id: string): string[] {
  const each = Object.entries(wanted ?? {}).flatMap(([name, own]) =>
    Object.entries(own).map(([field, value]) => `--${field} ${name}=${value}`),
  );
  return [
    `echo '${JSON.stringify({ id, questions })}' |`,
    "hushbin plan --task /dev/stdin",
    ...each,
    ...optionsOf(known),
  ];
}
