/** What is promised of sums, and against whom, in words. */

import { certaintyOf } from "../certainty.js";
import { budgetOf, reportsAYear } from "../task.js";
import { honestPeopleOf, itemsOf, messagesOf, type SumTask } from "./task.js";

/** Bytes that an upload begins with, but for the number of messages: `src/upload/mod.rs`. */
const HEADER = 33;
/** Bytes that sealing adds to a message: `OVERHEAD` in `src/sealed.rs`. */
const OVERHEAD = 52;

/** What a report costs a person, and what hides it: to be shown before they agree. */
export interface SumPrivacy {
  /** Whom people have to trust: there is no local ε. */
  readonly trust: "shuffler";
  /** Central ε of one report: of the shuffled batch, and of nothing before. */
  readonly centralEpsilon: number;
  /** With which probability that may fail. */
  readonly delta: number;
  /** People of a batch, at least. */
  readonly people: number;
  /** How many of them are counted on to follow the protocol. */
  readonly honestPeople: number;
  /** How many messages a person sends. */
  readonly messages: number;
  /** How many bytes these are, sealed. */
  readonly bytes: number;
  /** What that means: what the analyser's `GET /tasks/{id}` says too. */
  readonly statement: string;
}

/** Bytes of a number below 2³² as a varint. */
const varint = (value: number) => Math.ceil((32 - Math.clz32(value | 1)) / 7);

/** Bytes of a message, which says a coordinate and a sign. */
function messageBytes(task: SumTask): number {
  const items = itemsOf(task);
  const count = typeof items === "number" ? items : items.length;
  // Vectors are padded to a power of two, and spread over twice as many.
  const padded = 2 ** Math.ceil(Math.log2(count));
  return varint(2 * ("numbers" in task ? count : 2 * padded));
}

const counted = (count: number, what: string) =>
  count === 1 ? `one ${what}` : `${count} ${what}s`;

/** As Rust writes it: 1e-6, and 2.5e-9. */
const exponent = (value: number) => value.toExponential().replace("e+", "e");

/** Rounds a positive number up to three significant digits. */
function roundedUp(number: number): number {
  const power = Math.floor(Math.log10(number)) - 2;
  // A number such as 1.23 divided by 0.01 can exceed 123 by a rounding error.
  const units = Math.ceil((number / 10 ** power) * (1 - 1e-12));
  // Reading the decimal gives the nearest float. A product could be one digit off.
  return Number(`${units}e${power}`);
}

/** Tells what a task costs a person, and what hides them. */
export function privacyOf(task: SumTask): SumPrivacy {
  const { epsilon, delta, people } = task;
  const budget = budgetOf(task);
  const { days, reports } = budget;
  const messages = messagesOf(task);
  const honestPeople = honestPeopleOf(task);
  // `SumPrivacy` in `server/analysis/src/promise.rs` words it, which a test holds equal.
  const length = counted(days, "day");
  const allowed =
    reports === 1 ? `one report in ${length}` : `${reports} reports in each window of ${length}`;
  const windows = reportsAYear(budget);
  const year = `(${roundedUp(epsilon * windows)}, ${exponent(roundedUp(delta * windows))})`;
  return {
    trust: "shuffler",
    centralEpsilon: epsilon,
    delta,
    people,
    honestPeople,
    messages,
    bytes: HEADER + varint(messages) + messages * (OVERHEAD + messageBytes(task)),
    statement:
      "There is no local ε. Anyone who links messages to their sender reads the answer. The " +
      "shuffler and the analyser together could do that. Against someone who sees the shuffled " +
      "batch but nothing that links a report to a person (no order or time of arrival, no " +
      `address, no stable id), each batch is (${epsilon}, ${exponent(delta)})-differentially ` +
      "private for every person with one report in it: except with probability δ, a guess goes " +
      `from 50 % sure to at most ${certaintyOf(epsilon)} % sure. This assumes that the shuffler ` +
      `follows the protocol, that every batch has at least ${people} people, and that the ` +
      `browsers of ${honestPeople} of them follow the protocol. A person's browser sends at most ` +
      `${allowed}. The 365 days from the first report add up to at most ${year}.`,
  };
}
