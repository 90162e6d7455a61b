/** Sum tasks, which only a shuffler protects: their types, readers and canonical bytes. */

import type { CanonicalBytesBuilder } from "../canonical.js";
import {
  type FieldReader,
  invalidTaskError,
  listReader,
  oneOfReader,
  readFields,
  readInteger,
  readNumber,
  readString,
  type UncheckedFields,
} from "../fields.js";
import {
  type NumberDefinition,
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
  /** Parameters of the messages that each person sends. */
  readonly messages: SumMessages;
}

/** Sum task that estimates the sums of numbers. Each number has limits. */
export interface NumbersTask extends SumTaskBase {
  /** Numbers that the task asks for, 1 to 1024. */
  readonly numbers: readonly NumberDefinition[];
}

/** Sum task that estimates the sum of people's vectors. */
export interface VectorTask extends SumTaskBase {
  /** Vector that the task asks for. */
  readonly vector: SumVector;
}

/**
 * Complete sum task for a shuffler, as written by `hushbin task check`. All parameters are public.
 * Changing any parameter makes another task, with another fingerprint.
 */
export type SumTask = NumbersTask | VectorTask;

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
 * Returns the number of messages that each person sends.
 *
 * @internal
 */
export const messagesPerPerson = ({ messages: { levels, drawn, noise } }: SumTask): number =>
  levels * drawn + noise;

/**
 * Returns the names of a task's numbers, or the count of numbers without names.
 *
 * @internal
 */
export const itemNamesOrCount = (task: SumTask): readonly string[] | number =>
  "numbers" in task ? task.numbers.map(({ name }) => name) : task.vector.items;

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

const readMessages: FieldReader<SumMessages> = (from, key) => {
  if (from[key] === undefined) {
    throw invalidTaskError(
      "it has no messages; `hushbin task check FILE --out COMPLETE` chooses them",
    );
  }
  return readFields(
    from[key],
    key,
    {
      levels: readInteger,
      drawn: readInteger,
      trials: readInteger,
      threshold: readUint64Digits,
      noise: readInteger,
    },
    {},
  );
};

/**
 * Reads a sum task and checks its fields. The core checks ranges.
 *
 * @throws TaskError `invalid-task`
 * @internal
 */
export function parseSumTask(value: unknown): SumTask {
  const { trust, vector: asked } = Object(value) as UncheckedFields;
  if (trust === undefined) {
    throw invalidTaskError('it does not say "trust": "shuffler"');
  }
  const of =
    asked === undefined ? { numbers: listReader(readNumberDefinition) } : { vector: readVector };
  return readFields(
    value,
    "it",
    {
      id: readString,
      trust: oneOfReader(["shuffler"]),
      epsilon: readNumber,
      delta: readNumber,
      people: readPeopleCount,
      messages: readMessages,
      ...of,
    },
    { honest_fraction: readNumber, budget: readBudget },
  ) as SumTask;
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
    for (const { unit, min, max } of task.numbers) {
      writeUnit(unit, bytes);
      bytes.appendFloat(min);
      bytes.appendFloat(max);
    }
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
