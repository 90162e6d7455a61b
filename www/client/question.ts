/** Questions: what is asked, in which kind of answer. */

import type { CanonicalBytes } from "./canonical.js";
import {
  type Fields,
  integer,
  invalid,
  listOf,
  number,
  oneOf,
  type Reader,
  type Readers,
  read,
  text,
} from "./fields.js";
import { OUT_OF_RANGE } from "./mechanism/codec.js";
import { type Mechanism, parseMechanism, writeMechanism } from "./mechanism/index.js";

/**
 * Names of items or options; or how many there are, when items are named "0",
 * "1" and so on and options are told by their index; or `"open"` for arbitrary
 * names.
 */
export type Items = readonly string[] | number | "open";

/** What ratings are asked for. */
export interface Ratings {
  /**
   * Names of the items; or how many there are, when they are named "0", "1"
   * and so on; or `"open"` for arbitrary names.
   */
  readonly items: Items;
  /**
   * Greatest number of items in one input that is reported in full, 1 to 1024.
   * Hash-bin takes every entry; this many are what it was planned for.
   */
  readonly sparsity: number;
  /** Whether values are 1 and -1, or any number from -1 to 1. */
  readonly value: "sign" | "real";
}

interface Named {
  /** The name that answers go by. */
  readonly name: string;
  /** How often the question is drawn, relative to others, 1 to 1000000; 1 where it is left out. */
  readonly weight?: number;
  /** How answers are randomised. */
  readonly mechanism: Mechanism;
}

/** A question for values of any of its items. */
export interface RatingsQuestion extends Named, Ratings {
  readonly kind: "ratings";
}

/** A question for any number of its options. */
export interface SetQuestion extends Named {
  readonly kind: "set";
  /** Names of the options; or how many there are; or `"open"` for arbitrary names. */
  readonly options: Items;
  /** Greatest number of options in one answer that is reported in full, 1 to 1024. */
  readonly sparsity: number;
}

/** A question for exactly one of its options. */
export interface ChoiceQuestion extends Named {
  readonly kind: "choice";
  /** Names of the options, or how many there are. */
  readonly options: Exclude<Items, "open">;
}

/** A question for yes or no. */
export interface FlagQuestion extends Named {
  readonly kind: "flag";
}

interface NumberOf extends Named {
  readonly kind: "number";
  /** What the number counts or measures, for people. */
  readonly unit?: string;
}

/** A question for a number, of which the mean is estimated. */
export interface MeanQuestion extends NumberOf {
  /** Least number; those below are clipped. */
  readonly min: number;
  /** Greatest number; those above are clipped. */
  readonly max: number;
}

/** A question for a number, of which the distribution is estimated. */
export interface BinsQuestion extends NumberOf {
  /** Where bins begin and end, ascending; numbers beyond are clipped. */
  readonly edges: readonly number[];
  /** Distance of one possible number from the next: edges are midway. */
  readonly step?: number;
}

/** A question for a number. */
export type NumberQuestion = MeanQuestion | BinsQuestion;

/** One of several numbers. */
export interface Attribute {
  /** The name that it is answered by. */
  readonly name: string;
  /** Least number; those below are clipped. */
  readonly min: number;
  /** Greatest number; those above are clipped. */
  readonly max: number;
  /** What the number counts or measures, for people. */
  readonly unit?: string;
}

/** A question for several numbers that everybody has, of which the means are estimated. */
export interface NumbersQuestion extends Named {
  readonly kind: "numbers";
  /** The numbers asked for, 1 to 1024. */
  readonly of: readonly Attribute[];
}

/** What a part of a question asks, by the name that it is answered by. */
type PartOf<Q> = Q extends Question ? Omit<Q, keyof Named> & Pick<Q, "name"> : never;

/** What the rows of a cross are, or what is asked together: options, or no and yes. */
export type Rows = PartOf<ChoiceQuestion | FlagQuestion>;

/** A number whose mean is estimated in each row of a cross. */
export interface Levels extends PartOf<MeanQuestion> {
  /** To how many numbers, evenly from `min` to `max`, answers are rounded, 2 to 1024. */
  readonly levels: number;
}

/** What the columns of a cross are. */
export type Columns = PartOf<ChoiceQuestion | FlagQuestion | BinsQuestion> | Levels;

/** A question for two things at once: shares of both, or the mean of a number in each row. */
export interface CrossQuestion extends Named {
  readonly kind: "cross";
  /** Rows and columns, at most 1048576 cells. */
  readonly of: readonly [Rows, Columns];
}

/** Several questions that each report answers all of at once. */
export interface TogetherQuestion extends Named {
  readonly kind: "together";
  /** What is asked, 2 to 1024 parts of at most 1048576 options in all. */
  readonly of: readonly Rows[];
}

/** A question for a text, of which any that many people have is found. */
export interface TextQuestion extends Named {
  readonly kind: "text";
  /**
   * Lengths of its prefixes, in characters, ascending, 1 to 256: a report tells of one of
   * them.
   */
  readonly prefixes: readonly number[];
}

/** One of the questions of a task. */
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
 * What is listed by a question that lists.
 *
 * @internal
 */
export function itemsOf(
  question: Exclude<Question, FlagQuestion | NumberQuestion | TextQuestion>,
): Items {
  if ("of" in question) {
    return question.of.map((each) => each.name);
  }
  return question.kind === "ratings" ? question.items : question.options;
}

/** @internal */
export const attribute: Reader<Attribute> = (from, key) =>
  read(from[key], key, { name: text, min: number, max: number }, { unit: text });

/** @internal */
export const items: Reader<Items> = (from, key) => {
  const value = from[key];
  if (value === "open") {
    return value;
  }
  return (typeof value === "number" ? integer : listOf(text))(from, key);
};

const part: Reader<Columns> = (from, key) =>
  fieldsOf(Object(from[key]) as Fields, key, AXES, {}, {}) as Columns;

/** Two of them, as no more and no fewer have canonical bytes. */
const parts: Reader<CrossQuestion["of"]> = (from, key) => {
  const both = listOf(part)(from, key);
  if (both.length !== 2) {
    throw invalid(`${key} is not two parts`);
  }
  // Rows of numbers are refused by the core.
  return both as readonly Columns[] as CrossQuestion["of"];
};

const mechanism: Reader<Mechanism> = (from, key) => parseMechanism(from[key]);

/**
 * By the numbers that stand for ratings of them in canonical bytes.
 *
 * @internal
 */
export const VALUES = ["sign", "real"] as const;

/**
 * The fields of ratings, with a name or without.
 *
 * @internal
 */
export const RATINGS = {
  items,
  sparsity: integer,
  value: /* @__PURE__ */ oneOf(VALUES),
  mechanism,
} as const satisfies Readers;

/** In the order of the numbers that stand for them in canonical bytes, ratings aside. */
const OF_KIND = {
  set: { options: items, sparsity: integer },
  choice: { options: items },
  flag: {},
  number: { min: number, max: number },
  numbers: { of: /* @__PURE__ */ listOf(attribute) },
  cross: { of: parts },
  text: { prefixes: /* @__PURE__ */ listOf(integer) },
  together: { of: /* @__PURE__ */ listOf(part) },
  ratings: RATINGS,
} as const satisfies Readonly<Record<Question["kind"], Readers>>;

type Kind = Question["kind"];

const KINDS = /* @__PURE__ */ Object.keys(OF_KIND) as Kind[];

/** Those that a part can be; of numbers the core refuses some. */
const AXES = ["choice", "flag", "number"] as const;

/** The fields of a kind beside those of all. */
function fieldsOf(
  value: Fields,
  what: string,
  kinds: readonly Kind[],
  required: Readers,
  optional: Readers,
): object {
  const kind = oneOf(kinds)(value, "kind");
  const binned = kind === "number" && value.edges !== undefined;
  return read(
    value,
    what,
    {
      name: text,
      kind: text,
      ...(binned ? { edges: listOf(number) } : OF_KIND[kind]),
      ...(kind === "number" && !binned && kinds === AXES && { levels: integer }),
      ...required,
    },
    {
      ...optional,
      ...(kind === "number" && { unit: text }),
      ...(binned && { step: number }),
    },
  );
}

/**
 * Checks the shape of a question; ranges are the core's to check.
 *
 * @throws TaskError `invalid-task`
 * @internal
 */
export const parseQuestion: Reader<Question> = (from, key) => {
  const value = Object(from[key]) as Fields;
  try {
    // Its fields are those of its kind.
    return fieldsOf(value, "it", KINDS, { mechanism }, { weight: integer }) as Question;
  } catch (error) {
    (error as Error).message += ` in question ${JSON.stringify(value.name)}`;
    throw error;
  }
};

/**
 * Appends what is listed to a task's canonical bytes.
 *
 * @internal
 */
export function writeItems(listed: Items, bytes: CanonicalBytes): void {
  if (listed === "open") {
    bytes.number(2);
  } else if (typeof listed === "number") {
    bytes.number(1);
    bytes.number(listed);
  } else {
    bytes.number(0);
    bytes.number(listed.length);
    for (const name of listed) {
      bytes.text(name);
    }
  }
}

/**
 * Appends a unit to a task's canonical bytes.
 *
 * @internal
 */
export function writeUnit(unit: string | undefined, bytes: CanonicalBytes): void {
  // Where there is none nothing is written, so that nothing is not to be a unit.
  bytes.text(unit === undefined ? "" : unit || "\0");
}

function writeScale(question: PartOf<BinsQuestion> | Levels, bytes: CanonicalBytes): void {
  writeUnit(question.unit, bytes);
  bytes.float((question as BinsQuestion).step ?? 0);
  if ("edges" in question) {
    // Where there are levels 0 is written.
    bytes.number(question.edges.length || OUT_OF_RANGE);
    question.edges.forEach((edge) => void bytes.float(edge));
  } else {
    bytes.number(0);
    bytes.number(question.levels);
    bytes.float(question.min);
    bytes.float(question.max);
  }
}

function writePart(part: Columns, bytes: CanonicalBytes): void {
  bytes.text(part.name);
  writeKind(part.kind, bytes);
  if (part.kind === "number") {
    writeScale(part, bytes);
  } else if (part.kind === "choice") {
    writeItems(part.options, bytes);
  }
}

function writeKind(kind: Kind, bytes: CanonicalBytes): void {
  bytes.number(VALUES.length + KINDS.indexOf(kind));
}

/**
 * Appends a question to a task's canonical bytes.
 *
 * @throws TaskError `invalid-task` for what has no canonical bytes
 * @internal
 */
export function writeQuestion(question: Question, bytes: CanonicalBytes): void {
  const { name, weight = 1, kind } = question;
  bytes.text(name);
  bytes.number(weight);
  const binned = kind === "number" && "edges" in question;
  const means = kind === "numbers" ? question.of : kind === "number" && !binned && [question];
  if (kind === "ratings") {
    bytes.number(VALUES.indexOf(question.value));
  } else {
    writeKind(means ? "numbers" : kind, bytes);
  }
  if (means) {
    bytes.number(means.length);
    for (const { unit, min, max } of means) {
      writeUnit(unit, bytes);
      bytes.float(min);
      bytes.float(max);
    }
  }
  if (binned) {
    writeScale(question, bytes);
  } else if (kind === "cross" || kind === "together") {
    if (kind === "together") {
      bytes.number(question.of.length);
    }
    question.of.forEach((each) => void writePart(each, bytes));
  } else if (kind === "text") {
    bytes.list(question.prefixes);
  } else if (kind !== "flag" && kind !== "number") {
    writeItems(itemsOf(question), bytes);
    bytes.number(
      kind === "numbers" ? question.of.length : kind === "choice" ? 1 : question.sparsity,
    );
  }
  writeMechanism(question.mechanism, bytes);
}
