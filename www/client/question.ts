/** Questions of a task: their types, readers and canonical bytes. */

import type { CanonicalBytesBuilder } from "./canonical.js";
import {
  type FieldReader,
  type FieldReaders,
  invalidTaskError,
  listReader,
  oneOfReader,
  readBoolean,
  readFields,
  readInteger,
  readNumber,
  readString,
  type UncheckedFields,
} from "./fields.js";
import { UNENCODABLE_SENTINEL } from "./mechanism/codec.js";
import { type Mechanism, parseMechanism, writeMechanism } from "./mechanism/index.js";

/**
 * Names of items or options. A number is the number of items or options without names. Such items
 * are called "0", "1" and so on, and such options are given by index. `"open"` allows any names.
 */
export type ItemNamesOrCount = readonly string[] | number | "open";

/** Items that a question asks people to rate, and the values that ratings can have. */
export interface RatingsFields {
  /**
   * Names of the items. A number is the number of items, whose names are "0", "1" and so on.
   * `"open"` allows any names.
   */
  readonly items: ItemNamesOrCount;
  /**
   * Largest number of items for which a report covers the whole input: 1 to 1024. The mechanism
   * hash-bin always covers all items. Its tasks state the number for which they were planned.
   */
  readonly sparsity: number;
  /**
   * Values that ratings can have: `sign` allows 1 and −1, `real` allows any number from −1 to 1.
   */
  readonly value: "sign" | "real";
}

interface QuestionBase {
  /** Name of the question, to which answers refer. */
  readonly name: string;
  /** Relative frequency with which a report answers this question, 1 to 1000000 (default 1). */
  readonly weight?: number;
  /** Mechanism that randomises answers. */
  readonly mechanism: Mechanism;
}

/** Question with items, each of which a person may rate with a value. */
export interface RatingsQuestion extends QuestionBase, RatingsFields {
  readonly kind: "ratings";
}

/** Question with options, of which a person chooses any number. */
export interface SetQuestion extends QuestionBase {
  readonly kind: "set";
  /** Names of the options, or the number of options, or `"open"` for arbitrary names. */
  readonly options: ItemNamesOrCount;
  /** Largest number of options for which a report covers the whole answer: 1 to 1024. */
  readonly sparsity: number;
}

/** Question with options, of which a person chooses exactly one. */
export interface ChoiceQuestion extends QuestionBase {
  readonly kind: "choice";
  /** Names of the options, or the number of options. */
  readonly options: Exclude<ItemNamesOrCount, "open">;
}

/** Question that a person answers with yes or no. */
export interface FlagQuestion extends QuestionBase {
  readonly kind: "flag";
}

interface NumberQuestionBase extends QuestionBase {
  readonly kind: "number";
  /** Unit of the number, shown to people. */
  readonly unit?: string;
}

/** Question that asks for a number, whose mean is estimated. */
export interface MeanQuestion extends NumberQuestionBase {
  /** Least number. Smaller numbers are clipped to it. */
  readonly min: number;
  /** Greatest number. Larger numbers are clipped to it. */
  readonly max: number;
}

/** Question that asks for a number, whose distribution is estimated. */
export interface BinsQuestion extends NumberQuestionBase {
  /**
   * Edges of the bins, ascending. Numbers below the first or above the last edge are clipped to it.
   */
  readonly edges: readonly number[];
  /**
   * Distance between neighbouring values that the number can have. Each edge is in the middle
   * between two such values.
   */
  readonly step?: number;
  /** True if a person may have no number. The answer is then `null`. Default false. */
  readonly optional?: boolean;
}

/** Question that asks for a number, whose mean or distribution is estimated. */
export type NumberQuestion = MeanQuestion | BinsQuestion;

/** One of the numbers that a question or task for several numbers asks for. */
export interface NumberDefinition {
  /** Name of the number, to which answers refer. */
  readonly name: string;
  /** Least number. Smaller numbers are clipped to it. */
  readonly min: number;
  /** Greatest number. Larger numbers are clipped to it. */
  readonly max: number;
  /** Unit of the number, shown to people. */
  readonly unit?: string;
}

/**
 * Question that asks for several numbers, which every person has. The mean of each is estimated.
 */
export interface NumbersQuestion extends QuestionBase {
  readonly kind: "numbers";
  /** Numbers that the question asks for, 1 to 1024. */
  readonly of: readonly NumberDefinition[];
}

/** Part of a question. Answers refer to it by its name. */
type QuestionPart<Q> = Q extends Question ? Omit<Q, keyof QuestionBase> & Pick<Q, "name"> : never;

/**
 * Part of a question, with a list of options or as a flag with the options no and yes.
 * Cross-tabulation questions use it for their rows, and questions of the kind `together` for all
 * parts.
 */
export type RowPart = QuestionPart<ChoiceQuestion | FlagQuestion>;

/**
 * Number that forms the columns of a cross-tabulation question. Its mean is estimated in each row.
 */
export interface LevelPart extends QuestionPart<MeanQuestion> {
  /**
   * Number of levels to which answers are rounded, 2 to 1024. They are evenly spaced from `min` to
   * `max`.
   */
  readonly levels: number;
}

/** Columns of a cross-tabulation question. */
export type ColumnPart =
  | QuestionPart<ChoiceQuestion | FlagQuestion | Omit<BinsQuestion, "optional">>
  | LevelPart;

/**
 * Cross-tabulation question. A person gives an answer for the rows and one for the columns.
 * Estimates are the share of people in each cell, or the mean of a number in each row.
 */
export interface CrossQuestion extends QuestionBase {
  readonly kind: "cross";
  /** Rows and columns of the question. They form at most 1048576 cells. */
  readonly of: readonly [RowPart, ColumnPart];
}

/**
 * Question with several parts. A person chooses one option in each part, and a report covers all
 * parts.
 */
export interface TogetherQuestion extends QuestionBase {
  readonly kind: "together";
  /** Parts of the question: 2 to 1024, with at most 1048576 options in total. */
  readonly of: readonly RowPart[];
}

/**
 * Question that asks for a text. Estimates include any text that many people have. No list of texts
 * is needed.
 */
export interface TextQuestion extends QuestionBase {
  readonly kind: "text";
  /**
   * Lengths of the prefixes of a text in characters, ascending, 1 to 256. A report reveals one
   * prefix.
   */
  readonly prefixes: readonly number[];
}

/** Question of any kind. */
export type Question =
  | RatingsQuestion
  | SetQuestion
  | ChoiceQuestion
  | FlagQuestion
  | NumberQuestion
  | NumbersQuestion
  | CrossQuestion
  | TextQuestion
  | TogetherQuestion;

/**
 * Returns the items, options or parts that a question lists.
 *
 * @internal
 */
export function questionItems(
  question: Exclude<Question, FlagQuestion | NumberQuestion | TextQuestion>,
): ItemNamesOrCount {
  if ("of" in question) {
    return question.of.map((each) => each.name);
  }
  return question.kind === "ratings" ? question.items : question.options;
}

/** @internal */
export const readNumberDefinition: FieldReader<NumberDefinition> = (from, key) =>
  readFields(
    from[key],
    key,
    { name: readString, min: readNumber, max: readNumber },
    { unit: readString },
  );

/** @internal */
export const readItems: FieldReader<ItemNamesOrCount> = (from, key) => {
  const value = from[key];
  if (value === "open") {
    return value;
  }
  return (typeof value === "number" ? readInteger : listReader(readString))(from, key);
};

const readPart: FieldReader<ColumnPart> = (from, key) =>
  readQuestionFields(Object(from[key]) as UncheckedFields, key, PART_KINDS, {}, {}) as ColumnPart;

/**
 * Reads the two parts of a cross-tabulation question. Canonical bytes cannot express another number
 * of parts.
 */
const readCrossParts: FieldReader<CrossQuestion["of"]> = (from, key) => {
  const both = listReader(readPart)(from, key);
  if (both.length !== 2) {
    throw invalidTaskError(`${key} is not two parts`);
  }
  // The core refuses rows that are numbers.
  return both as readonly ColumnPart[] as CrossQuestion["of"];
};

const readMechanism: FieldReader<Mechanism> = (from, key) => parseMechanism(from[key]);

/**
 * Kinds of values that ratings can have. The index of a kind encodes it in canonical bytes.
 *
 * @internal
 */
export const RATING_VALUE_KINDS = ["sign", "real"] as const;

/**
 * Readers of the fields of a question for ratings, with or without a name.
 *
 * @internal
 */
export const RATINGS_FIELD_READERS = {
  items: readItems,
  sparsity: readInteger,
  value: /* @__PURE__ */ oneOfReader(RATING_VALUE_KINDS),
  mechanism: readMechanism,
} as const satisfies FieldReaders;

/**
 * Readers of the fields of each kind of question. The position of a kind encodes it in canonical
 * bytes, except for the kind `ratings`.
 */
const FIELD_READERS_BY_KIND = {
  set: { options: readItems, sparsity: readInteger },
  choice: { options: readItems },
  flag: {},
  number: { min: readNumber, max: readNumber },
  numbers: { of: /* @__PURE__ */ listReader(readNumberDefinition) },
  cross: { of: readCrossParts },
  text: { prefixes: /* @__PURE__ */ listReader(readInteger) },
  together: { of: /* @__PURE__ */ listReader(readPart) },
  ratings: RATINGS_FIELD_READERS,
} as const satisfies Readonly<Record<Question["kind"], FieldReaders>>;

type QuestionKind = Question["kind"];

const QUESTION_KINDS = /* @__PURE__ */ Object.keys(FIELD_READERS_BY_KIND) as QuestionKind[];

/** Code of a number that a person may lack, in canonical bytes. */
const OPTIONAL_NUMBER_KIND_CODE = 10;

/** Kinds that a part of a question can have. The core refuses some combinations of kinds. */
const PART_KINDS = ["choice", "flag", "number"] as const;

/** Reads the fields of a question, or of a part of a question. */
function readQuestionFields(
  value: UncheckedFields,
  what: string,
  kinds: readonly QuestionKind[],
  required: FieldReaders,
  optional: FieldReaders,
): object {
  const kind = oneOfReader(kinds)(value, "kind");
  const binned = kind === "number" && value.edges !== undefined;
  return readFields(
    value,
    what,
    {
      name: readString,
      kind: readString,
      ...(binned ? { edges: listReader(readNumber) } : FIELD_READERS_BY_KIND[kind]),
      ...(kind === "number" && !binned && kinds === PART_KINDS && { levels: readInteger }),
      ...required,
    },
    {
      ...optional,
      ...(kind === "number" && { unit: readString }),
      ...(binned && { step: readNumber }),
      ...(binned && kinds !== PART_KINDS && { optional: readBoolean }),
    },
  );
}

/**
 * Reads a question and checks its fields. The core checks ranges.
 *
 * @throws TaskError `invalid-task`
 * @internal
 */
export const parseQuestion: FieldReader<Question> = (from, key) => {
  const value = Object(from[key]) as UncheckedFields;
  try {
    // `readQuestionFields` has read the fields of this kind.
    return readQuestionFields(
      value,
      "it",
      QUESTION_KINDS,
      { mechanism: readMechanism },
      { weight: readInteger },
    ) as Question;
  } catch (error) {
    (error as Error).message += ` in question ${JSON.stringify(value.name)}`;
    throw error;
  }
};

/**
 * Appends the items or options of a question to a task's canonical bytes.
 *
 * @internal
 */
export function writeItems(listed: ItemNamesOrCount, bytes: CanonicalBytesBuilder): void {
  if (listed === "open") {
    bytes.appendInteger(2);
  } else if (typeof listed === "number") {
    bytes.appendInteger(1);
    bytes.appendInteger(listed);
  } else {
    bytes.appendInteger(0);
    bytes.appendInteger(listed.length);
    for (const name of listed) {
      bytes.appendText(name);
    }
  }
}

/**
 * Appends a unit to a task's canonical bytes.
 *
 * @internal
 */
export function writeUnit(unit: string | undefined, bytes: CanonicalBytesBuilder): void {
  // An empty text encodes a missing unit. An empty unit must differ from it; the core refuses "\0".
  bytes.appendText(unit === undefined ? "" : unit || "\0");
}

function writeNumberScale(
  question: QuestionPart<BinsQuestion> | LevelPart,
  bytes: CanonicalBytesBuilder,
): void {
  writeUnit(question.unit, bytes);
  bytes.appendFloat((question as BinsQuestion).step ?? 0);
  if ("edges" in question) {
    // 0 encodes levels, so an empty list of edges must not be written as 0.
    bytes.appendInteger(question.edges.length || UNENCODABLE_SENTINEL);
    question.edges.forEach((edge) => void bytes.appendFloat(edge));
  } else {
    bytes.appendInteger(0);
    bytes.appendInteger(question.levels);
    bytes.appendFloat(question.min);
    bytes.appendFloat(question.max);
  }
}

function writePart(part: ColumnPart, bytes: CanonicalBytesBuilder): void {
  bytes.appendText(part.name);
  writeKind(part.kind, bytes);
  if (part.kind === "number") {
    writeNumberScale(part, bytes);
  } else if (part.kind === "choice") {
    writeItems(part.options, bytes);
  }
}

function writeKind(kind: QuestionKind, bytes: CanonicalBytesBuilder): void {
  bytes.appendInteger(RATING_VALUE_KINDS.length + QUESTION_KINDS.indexOf(kind));
}

/**
 * Appends a question to a task's canonical bytes.
 *
 * @throws TaskError `invalid-task` for a question without canonical bytes
 * @internal
 */
export function writeQuestion(question: Question, bytes: CanonicalBytesBuilder): void {
  const { name, weight = 1, kind } = question;
  bytes.appendText(name);
  bytes.appendInteger(weight);
  const binned = kind === "number" && "edges" in question;
  const means = kind === "numbers" ? question.of : kind === "number" && !binned && [question];
  if (kind === "ratings") {
    bytes.appendInteger(RATING_VALUE_KINDS.indexOf(question.value));
  } else if (binned && question.optional) {
    bytes.appendInteger(OPTIONAL_NUMBER_KIND_CODE);
  } else {
    writeKind(means ? "numbers" : kind, bytes);
  }
  if (means) {
    bytes.appendInteger(means.length);
    for (const { unit, min, max } of means) {
      writeUnit(unit, bytes);
      bytes.appendFloat(min);
      bytes.appendFloat(max);
    }
  }
  if (binned) {
    writeNumberScale(question, bytes);
  } else if (kind === "cross" || kind === "together") {
    if (kind === "together") {
      bytes.appendInteger(question.of.length);
    }
    question.of.forEach((each) => void writePart(each, bytes));
  } else if (kind === "text") {
    bytes.appendIntegerList(question.prefixes);
  } else if (kind !== "flag" && kind !== "number") {
    writeItems(questionItems(question), bytes);
    bytes.appendInteger(
      kind === "numbers" ? question.of.length : kind === "choice" ? 1 : question.sparsity,
    );
  }
  writeMechanism(question.mechanism, bytes);
}
