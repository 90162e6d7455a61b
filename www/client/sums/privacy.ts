/** What is promised of sums, and against whom, in words. */

import { budgetOf } from "../task.js";
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

/** In four digits behind the point, not below. */
const roundedUp = (epsilon: number) => Math.ceil(1e4 * epsilon) / 1e4;

/** Tells what a task costs a person, and what hides them. */
export function privacyOf(task: SumTask): SumPrivacy {
  const { epsilon, delta, people } = task;
  const { days, reports } = budgetOf(task);
  const messages = messagesOf(task);
  const honestPeople = honestPeopleOf(task);
  // `SumPrivacy` in `server/analysis/src/promise.rs` words it, which a test holds equal.
  const windows = Math.ceil(365 / days) * reports;
  const year = `(${roundedUp(epsilon * windows)}, ${exponent(delta * windows)})`;
  return {
    trust: "shuffler",
    centralEpsilon: epsilon,
    delta,
    people,
    honestPeople,
    messages,
    bytes: HEADER + varint(messages) + messages * (OVERHEAD + messageBytes(task)),
    statement:
      "There is no local epsilon: whoever links messages to the person who sent them reads the " +
      "answer, and the shuffler could, together with who can open them. Against somebody who " +
      "sees the shuffled batch and nothing that links a report to a person (no order or time of " +
      `arrival, no address, no stable id), a batch is (${epsilon}, ${exponent(delta)})-` +
      "differentially private for each person with one report in it, if the shuffler does what " +
      `it says, no batch has fewer than ${people} people, and the browsers of ${honestPeople} of ` +
      `them follow the protocol. A person's browser sends ${counted(reports, "report")} in ` +
      `${counted(days, "day")} at most; in the 365 days from the first that is ${year} at most.`,
  };
}
