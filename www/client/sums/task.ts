/** Tasks whose sums a shuffler hides, and nothing else. */

import type { CanonicalBytes } from "../canonical.js";
import {
  type Fields,
  integer,
  invalid,
  listOf,
  number,
  oneOf,
  type Reader,
  read,
  text,
} from "../fields.js";
import { type Attribute, attribute, items, writeItems, writeUnit } from "../question.js";
import { type AnyTask, budget, budgetBytes } from "../task.js";

/** A vector, of which the sum is estimated. */
export interface SumVector {
  /** Names of its numbers; or how many there are, which are told in order. */
  readonly items: readonly string[] | number;
  /** Its greatest Euclidean length; longer ones are shortened. */
  readonly length: number;
  /** What spreads its numbers over coordinates is drawn from this: digits of a number below 2⁶⁴. */
  readonly seed?: string;
  /** How much larger than the others a coordinate may be, 1 to 4; 2 where it is left out. */
  readonly spread?: number;
}

/** What each person sends: `hushbin task check` chooses it so that the promise holds. */
export interface SumMessages {
  /** How many messages say the greatest number of a coordinate. */
  readonly levels: number;
  /** Of how many coordinates a person tells the number. */
  readonly drawn: number;
  /** How often noise is drawn for each coordinate, up and down. */
  readonly trials: number;
  /** 2⁶⁴ times the probability of each to be a message, in digits. */
  readonly threshold: string;
  /** Messages of noise, at most. */
  readonly noise: number;
}

interface Promised extends AnyTask {
  /** Whom people have to trust: there is no local ε. */
  readonly trust: "shuffler";
  /** Central ε of one report, 0.001 to 12: of the shuffled batch, and of nothing before. */
  readonly epsilon: number;
  /** With which probability that may fail, 1e-15 to 0.01. */
  readonly delta: number;
  /** People of a batch, at least. */
  readonly people: number;
  /** The part of them whose noise is counted on; 0.9 where it is left out. */
  readonly honest_fraction?: number;
  /** What each person sends. */
  readonly messages: SumMessages;
}

/** A task that sums up numbers, each within limits of its own. */
export interface NumbersTask extends Promised {
  /** The numbers asked for, 1 to 1024. */
  readonly numbers: readonly Attribute[];
}

/** A task that sums up a vector. */
export interface VectorTask extends Promised {
  /** The vector asked for. */
  readonly vector: SumVector;
}

/**
 * A complete task of sums through a shuffler, as `hushbin task check` writes it. All
 * parameters are public; changing any of them makes another task with another fingerprint.
 */
export type SumTask = NumbersTask | VectorTask;

/** As the core has them, which a test holds equal. */
const HONEST_FRACTION = 0.9;
const SPREAD = 2;

const honestFractionOf = ({ honest_fraction = HONEST_FRACTION }: SumTask) => honest_fraction;

/**
 * Number of people of a batch whose noise is counted on.
 *
 * @internal
 */
export const honestPeopleOf = (task: SumTask): number =>
  Math.floor(honestFractionOf(task) * task.people);

/**
 * How many messages each person sends.
 *
 * @internal
 */
export const messagesOf = ({ messages: { levels, drawn, noise } }: SumTask): number =>
  levels * drawn + noise;

/**
 * What a person gives a number for: how many, and the names where they have some.
 *
 * @internal
 */
export const itemsOf = (task: SumTask): readonly string[] | number =>
  "numbers" in task ? task.numbers.map(({ name }) => name) : task.vector.items;

const people: Reader<number> = (from, key) => {
  const value = number(from, key);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalid(`${key} is ${value}, expected a whole number`);
  }
  return value;
};

/** A number below 2⁶⁴, in its only spelling. */
const word: Reader<string> = (from, key) => {
  const digits = text(from, key);
  if (!/^(0|[1-9]\d{0,19})$/.test(digits) || BigInt(digits) >= 2n ** 64n) {
    throw invalid(`${key} is ${JSON.stringify(digits)}, expected digits of a number below 2^64`);
  }
  return digits;
};

const vector: Reader<SumVector> = (from, key) =>
  // Open items have no place in it, and are refused by the core.
  read(from[key], key, { items, length: number }, { seed: word, spread: number }) as SumVector;

const messages: Reader<SumMessages> = (from, key) => {
  if (from[key] === undefined) {
    throw invalid("it has no messages; `hushbin task check FILE --out COMPLETE` chooses them");
  }
  return read(
    from[key],
    key,
    { levels: integer, drawn: integer, trials: integer, threshold: word, noise: integer },
    {},
  );
};

/**
 * Checks the shape of a task; ranges are the core's to check.
 *
 * @throws TaskError `invalid-task`
 * @internal
 */
export function parseSumTask(value: unknown): SumTask {
  const { trust, vector: asked } = Object(value) as Fields;
  if (trust === undefined) {
    throw invalid('it does not say "trust": "shuffler", so that it is none of sums');
  }
  const of = asked === undefined ? { numbers: listOf(attribute) } : { vector };
  return read(
    value,
    "it",
    {
      id: text,
      trust: oneOf(["shuffler"]),
      epsilon: number,
      delta: number,
      people,
      messages,
      ...of,
    },
    { honest_fraction: number, budget },
  ) as SumTask;
}

function writeWord(value: bigint, bytes: CanonicalBytes): void {
  bytes.number(Number(value & 0xffff_ffffn), Number(value >> 32n));
}

/**
 * The bytes that a task's fingerprint is the hash of, as the core writes them.
 *
 * @internal
 */
export function sumBytes(task: SumTask): Uint8Array {
  const bytes = budgetBytes(task);
  bytes.text("hushbin sum 1");
  bytes.text(task.id);
  bytes.float(task.epsilon);
  bytes.float(task.delta);
  writeWord(BigInt(task.people), bytes);
  bytes.float(honestFractionOf(task));
  if ("numbers" in task) {
    bytes.number(0);
    writeItems(itemsOf(task), bytes);
    for (const { unit, min, max } of task.numbers) {
      writeUnit(unit, bytes);
      bytes.float(min);
      bytes.float(max);
    }
  } else {
    const { items, length, seed = "0", spread = SPREAD } = task.vector;
    bytes.number(1);
    writeItems(items, bytes);
    bytes.float(length);
    writeWord(BigInt(seed), bytes);
    bytes.float(spread);
  }
  const { levels, drawn, trials, threshold, noise } = task.messages;
  [levels, drawn, trials].forEach((own) => void bytes.number(own));
  writeWord(BigInt(threshold), bytes);
  bytes.number(noise);
  return bytes.toBytes();
}
