/** Sum tasks, which only a shuffler protects: their types, readers and canonical bytes. */

import type { CanonicalBytesBuilder } from "../canonical.js";
import {
  type FieldReader,
  type FieldReaders,
  invalidTaskError,
  listReader,
  oneOfReader,
  readFields,
  readInteger,
  readNumber,
  readString,
  readTaskId,
  type UncheckedFields,
} from "../fields.js";
import {
  type NumberDefinition,
  type RowPart,
  readItems,
  readNumberDefinition,
  writeItems,
  writeUnit,
} from "../question.js";
import { type AnyTask, canonicalBuilderWithBudget, readBudget } from "../task.js";

/** Vector that each person has. The sum over all people is estimated. */
export interface SumVector {
  /**
   * Names of the vector's components, or the number of components without names. Values without names
   * are given in order.
   */
  readonly items: readonly string[] | number;
  /** Maximum Euclidean length of a vector. Longer vectors are shortened to it. */
  readonly length: number;
  /**
   * Seed of the random frame that spreads the vector over coordinates (default 0). It is a number
   * below 2⁶⁴, in decimal digits.
   */
  readonly seed?: string;
  /**
   * Factor C that limits coordinates, 1 to 4 (default 2). If the padded vector has d numbers, a
   * coordinate is at most C × `length` / √d.
   */
  readonly spread?: number;
}

/**
 * Parameters of the messages that each person sends. `hushbin task check` chooses them so that the
 * privacy guarantee holds.
 */
export interface SumMessages {
  /** Number of messages that encode the largest possible value of a coordinate. */
  readonly levels: number;
  /** Number of coordinates that a person reports. They are drawn at random. */
  readonly drawn: number;
  /** Number of trials for noise messages, per coordinate and per direction (up or down). */
  readonly trials: number;
  /** Probability that a trial yields a noise message, multiplied by 2⁶⁴, in decimal digits. */
  readonly threshold: string;
  /** Maximum number of noise messages of one person. */
  readonly noise: number;
}

/**
 * Set of options, of which a person sends at most `sparsity`. From a larger set, a random part is
 * sent.
 */
export interface CountedSet {
  readonly kind: "set";
  /** Name of the question, to which answers refer. */
  readonly name: string;
  /** Names of the options, or the number of options. */
  readonly options: readonly string[] | number;
  /** Largest number of options that a person sends, 1 to 1024. */
  readonly sparsity: number;
}

/** Number that is counted in bins of equal width. */
export interface CountedNumber extends NumberDefinition {
  readonly kind: "number";
  /** Number of bins, 2 to 4096. */
  readonly bins: number;
}

/** Question whose options are counted through a shuffler: a choice, a flag, a set or a number. */
export type CountedQuestion = RowPart | CountedSet | CountedNumber;

/**
 * Parameters of the messages that each person sends to a task of questions. `hushbin task check`
 * chooses them so that the privacy guarantee holds.
 */
export interface LotteryMessages {
  /** Number of draws, 1 to 64. Each draw may yield a noise message. */
  readonly draws: number;
  /**
   * Probability that a draw yields a noise message, multiplied by 2⁶⁴, in decimal digits. It is
   * above 0.
   */
  readonly threshold: string;
  /** True if blank messages make all uploads equally long (default false). */
  readonly equal?: boolean;
}

interface SumTaskBase extends AnyTask {
  /** Party that people have to trust. There is no local ε. */
  readonly trust: "shuffler";
  /**
   * Central ε of one report, 0.001 to 12. It protects the shuffled batch, but not the messages
   * before they are shuffled.
   */
  readonly epsilon: number;
  /** Probability δ that the guarantee of this ε fails, 1e-15 to 0.01. */
  readonly delta: number;
  /** Minimum number of people in a batch. */
  readonly people: number;
  /**
   * Fraction of these people who are assumed to follow the protocol (default 0.9). The guarantee
   * relies on the noise of these people.
   */
  readonly honest_fraction?: number;
}

/** Sum task that estimates the sums of numbers. Each number has limits. */
export interface NumbersTask extends SumTaskBase {
  /** Numbers that the task asks for, 1 to 1024. */
  readonly numbers: readonly NumberDefinition[];
  /** Parameters of the messages that each person sends. */
  readonly messages: SumMessages;
}

/** Sum task that estimates the sum of people's vectors. */
export interface VectorTask extends SumTaskBase {
  /** Vector that the task asks for. */
  readonly vector: SumVector;
  /** Parameters of the messages that each person sends. */
  readonly messages: SumMessages;
}

/** Sum task that estimates how many people chose each option of a question. */
export interface QuestionsSumTask extends SumTaskBase {
  /** One question, or up to 64 flags. */
  readonly questions: readonly CountedQuestion[];
  /** Parameters of the messages that each person sends. */
  readonly messages: LotteryMessages;
}

/**
 * Complete sum task for a shuffler, as written by `hushbin task check`. All parameters are public.
 * Changing any parameter makes another task, with another fingerprint.
 */
export type SumTask = NumbersTask | VectorTask | QuestionsSumTask;

/** Defaults of the core for optional parameters. A test compares them. */
const DEFAULT_HONEST_FRACTION = 0.9;
const DEFAULT_SPREAD = 2;

const honestFractionOf = ({ honest_fraction = DEFAULT_HONEST_FRACTION }: SumTask) =>
  honest_fraction;

/**
 * Returns the number of people in a batch who are assumed to follow the protocol. The guarantee
 * relies on the noise of these people.
 *
 * @internal
 */
export const honestPeopleOf = (task: SumTask): number =>
  Math.floor(honestFractionOf(task) * task.people);

/**
 * Number of bins from which on a number has two levels. It is `LEAST_BINS_WITH_TWO_LEVELS` in
 * `src/sums/counted_questions.rs`.
 */
const LEAST_BINS_WITH_TWO_LEVELS = 32;

/**
 * Returns the number of cells of a question, about which messages can be, and the number of a
 * person's own messages. It follows `cell_groups` in the core.
 */
function cellsAndOwnMessages(question: CountedQuestion): readonly [cells: number, own: number] {
  if (question.kind === "flag") {
    return [2, 1];
  }
  if (question.kind === "number") {
    const { bins } = question;
    return bins < LEAST_BINS_WITH_TWO_LEVELS
      ? [bins, 1]
      : [bins + Math.ceil(bins / Math.ceil(Math.sqrt(bins))), 2];
  }
  const { options } = question;
  const count = typeof options === "number" ? options : options.length;
  return question.kind === "set" ? [count + question.sparsity, question.sparsity] : [count, 1];
}

/** Returns the sums of {@link cellsAndOwnMessages} over all questions. */
const totalCellsAndOwnMessages = ({ questions }: QuestionsSumTask) =>
  questions
    .map(cellsAndOwnMessages)
    .reduce(([cells, own], [more, moreOwn]) => [cells + more, own + moreOwn], [0, 0]);

/**
 * Returns the minimum and maximum number of messages that a person sends. They are equal unless the
 * task asks questions.
 *
 * @internal
 */
export function messagesPerPerson(task: SumTask): readonly [min: number, max: number] {
  if ("questions" in task) {
    const [, own] = totalCellsAndOwnMessages(task);
    const { draws, equal } = task.messages;
    return [equal ? own + draws : own, own + draws];
  }
  const { levels, drawn, noise } = task.messages;
  const count = levels * drawn + noise;
  return [count, count];
}

/**
 * Returns the number of bytes of a number below 2³² as a varint, which has 7 bits in each byte.
 *
 * @internal
 */
export const varintLength = (value: number) => Math.ceil((32 - Math.clz32(value | 1)) / 7);

/**
 * Returns the length in bytes of each message.
 *
 * @internal
 */
export function messageLength(task: SumTask): number {
  if ("questions" in task) {
    // Code 0 is a blank message, and codes 1 to K are cells.
    return varintLength(totalCellsAndOwnMessages(task)[0]);
  }
  const items = itemNamesOrCount(task);
  const count = typeof items === "number" ? items : items.length;
  // Vectors are padded to a power of two, and spread over twice that number of coordinates.
  const padded = 2 ** Math.ceil(Math.log2(count));
  // Codes 1 to 2·D are the signs of D coordinates; 0 is a blank message.
  return varintLength(2 * ("numbers" in task ? count : 2 * padded));
}

/**
 * Returns the names of a task's numbers or questions, or the count of numbers without names.
 *
 * @internal
 */
export function itemNamesOrCount(task: SumTask): readonly string[] | number {
  const named = "questions" in task ? task.questions : "numbers" in task ? task.numbers : undefined;
  return named ? named.map(({ name }) => name) : (task as VectorTask).vector.items;
}

const readPeopleCount: FieldReader<number> = (from, key) => {
  const value = readNumber(from, key);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalidTaskError(`${key} is ${value}, expected a whole number`);
  }
  return value;
};

/** Reads a number below 2⁶⁴ in decimal digits, without leading zeros. */
const readUint64Digits: FieldReader<string> = (from, key) => {
  const digits = readString(from, key);
  if (!/^(0|[1-9]\d{0,19})$/.test(digits) || BigInt(digits) >= 2n ** 64n) {
    throw invalidTaskError(
      `${key} is ${JSON.stringify(digits)}, expected digits of a number below 2^64`,
    );
  }
  return digits;
};

const readVector: FieldReader<SumVector> = (from, key) =>
  // The core refuses open items, which a vector cannot have.
  readFields(
    from[key],
    key,
    { items: readItems, length: readNumber },
    { seed: readUint64Digits, spread: readNumber },
  ) as SumVector;

/**
 * Returns a reader of a task's messages.
 *
 * @throws TaskError if the task has none
 */
const messagesReader =
  (required: FieldReaders, optional: FieldReaders = {}): FieldReader<unknown> =>
  (from, key) => {
    if (from[key] === undefined) {
      throw invalidTaskError(
        "it has no messages; `hushbin task check FILE --out COMPLETE` chooses them",
      );
    }
    return readFields(from[key], key, required, optional);
  };

const readUnitStepMessages = /* @__PURE__ */ messagesReader({
  levels: readInteger,
  drawn: readInteger,
  trials: readInteger,
  threshold: readUint64Digits,
  noise: readInteger,
});

/**
 * Reads the threshold of a lottery: 1 to 2⁶⁴, in decimal digits. The core does not check it, because
 * canonical bytes have 64 bits and encode 2⁶⁴ as 0.
 */
const readLotteryThreshold: FieldReader<string> = (from, key) => {
  const digits = readString(from, key);
  if (!/^[1-9]\d{0,19}$/.test(digits) || BigInt(digits) > 2n ** 64n) {
    throw invalidTaskError(
      `${key} is ${JSON.stringify(digits)}, expected digits of a number from 1 to 2^64`,
    );
  }
  return digits;
};

const readBoolean: FieldReader<boolean> = (from, key) => {
  const value = from[key];
  if (typeof value !== "boolean") {
    throw invalidTaskError(`${key} is not true or false`);
  }
  return value;
};

const readLotteryMessages = /* @__PURE__ */ messagesReader(
  { draws: readInteger, threshold: readLotteryThreshold },
  { equal: readBoolean },
);

/** Readers of the fields of each kind of question. */
const FIELD_READERS_BY_KIND = {
  choice: { options: readItems },
  set: { options: readItems, sparsity: readInteger },
  flag: {},
  number: { min: readNumber, max: readNumber, bins: readInteger },
} as const satisfies Readonly<Record<CountedQuestion["kind"], FieldReaders>>;

/**
 * Kinds of questions. Canonical bytes encode a kind by its position, after the kinds of numbers and
 * vectors.
 */
const QUESTION_KINDS = Object.keys(FIELD_READERS_BY_KIND) as readonly CountedQuestion["kind"][];

const readQuestion: FieldReader<CountedQuestion> = (from, key) => {
  const kind = oneOfReader(QUESTION_KINDS)(Object(from[key]) as UncheckedFields, "kind");
  // The core refuses open options.
  return readFields(
    from[key],
    key,
    { name: readString, kind: readString, ...FIELD_READERS_BY_KIND[kind] },
    kind === "number" ? { unit: readString } : {},
  ) as unknown as CountedQuestion;
};

/** Reads questions. Canonical bytes express one question, or several flags. */
const readQuestions: FieldReader<readonly CountedQuestion[]> = (from, key) => {
  const questions = listReader(readQuestion)(from, key);
  if (questions.length !== 1 && (!questions[0] || questions.some(({ kind }) => kind !== "flag"))) {
    throw invalidTaskError(`${key} are not one question, or several of the kind "flag"`);
  }
  return questions;
};

/**
 * Reads a sum task and checks its fields. The core checks ranges.
 *
 * @throws TaskError `invalid-task`
 * @internal
 */
export function parseSumTask(value: unknown): SumTask {
  const { trust, vector, questions } = Object(value) as UncheckedFields;
  if (trust === undefined) {
    throw invalidTaskError('it does not say "trust": "shuffler"');
  }
  const asked = {
    ...(vector !== undefined
      ? { vector: readVector }
      : questions !== undefined
        ? { questions: readQuestions }
        : { numbers: listReader(readNumberDefinition) }),
    messages: questions === undefined ? readUnitStepMessages : readLotteryMessages,
  };
  return readFields(
    value,
    "it",
    {
      id: readTaskId,
      trust: oneOfReader(["shuffler"]),
      epsilon: readNumber,
      delta: readNumber,
      people: readPeopleCount,
      ...asked,
    },
    { honest_fraction: readNumber, budget: readBudget },
  ) as SumTask;
}

/** Appends questions that {@link readQuestions} has read. */
function writeQuestions(questions: readonly CountedQuestion[], bytes: CanonicalBytesBuilder): void {
  const [first] = questions;
  if (!first) {
    return;
  }
  bytes.appendInteger(2 + QUESTION_KINDS.indexOf(first.kind));
  if (first.kind === "flag") {
    writeItems(
      questions.map(({ name }) => name),
      bytes,
    );
    return;
  }
  writeItems(first.kind === "number" ? first.bins : first.options, bytes);
  bytes.appendText(first.name);
  if (first.kind === "set") {
    bytes.appendInteger(first.sparsity);
  } else if (first.kind === "number") {
    writeNumberLimits(first, bytes);
  }
}

function writeNumberLimits(
  { unit, min, max }: NumberDefinition,
  bytes: CanonicalBytesBuilder,
): void {
  writeUnit(unit, bytes);
  bytes.appendFloat(min);
  bytes.appendFloat(max);
}

function writeInteger64(value: bigint, bytes: CanonicalBytesBuilder): void {
  bytes.appendInteger(Number(value & 0xffff_ffffn), Number(value >> 32n));
}

/**
 * Returns the canonical bytes of a sum task, as the core writes them. The
 * fingerprint is a hash of these bytes.
 *
 * @internal
 */
export function canonicalSumBytes(task: SumTask): Uint8Array {
  const bytes = canonicalBuilderWithBudget(task);
  bytes.appendText("hushbin sum 1");
  bytes.appendText(task.id);
  bytes.appendFloat(task.epsilon);
  bytes.appendFloat(task.delta);
  writeInteger64(BigInt(task.people), bytes);
  bytes.appendFloat(honestFractionOf(task));
  if ("numbers" in task) {
    bytes.appendInteger(0);
    writeItems(itemNamesOrCount(task), bytes);
    for (const number of task.numbers) {
      writeNumberLimits(number, bytes);
    }
  } else if ("questions" in task) {
    writeQuestions(task.questions, bytes);
    const { draws, threshold, equal = false } = task.messages;
    bytes.appendInteger(draws);
    // The 64 low bits, so that 2⁶⁴ is written as 0.
    writeInteger64(BigInt.asUintN(64, BigInt(threshold)), bytes);
    bytes.appendInteger(Number(equal));
    return bytes.toBytes();
  } else {
    const { items, length, seed = "0", spread = DEFAULT_SPREAD } = task.vector;
    bytes.appendInteger(1);
    writeItems(items, bytes);
    bytes.appendFloat(length);
    writeInteger64(BigInt(seed), bytes);
    bytes.appendFloat(spread);
  }
  const { levels, drawn, trials, threshold, noise } = task.messages;
  [levels, drawn, trials].forEach((own) => void bytes.appendInteger(own));
  writeInteger64(BigInt(threshold), bytes);
  bytes.appendInteger(noise);
  return bytes.toBytes();
}
