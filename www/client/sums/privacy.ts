/** Privacy of a sum task: its guarantee, and on whom it relies. */

import { maximumCertaintyPercent } from "../certainty.js";
import { roundUpThreeDigits } from "../rounding.js";
import { budgetOf, maxReportsPerYear } from "../task.js";
import {
  honestPeopleOf,
  messageLength,
  messagesPerPerson,
  type SumTask,
  varintLength,
} from "./task.js";

/**
 * Length of an upload's header in bytes, without the number of messages. It follows
 * `src/upload/mod.rs`.
 *
 * @internal
 */
export const UPLOAD_HEADER_LENGTH = 33;
/** Number of bytes that sealing adds to a message. It is `OVERHEAD` in `src/sealed.rs`. */
const SEALING_OVERHEAD_BYTES = 52;

/** Cost and protection of one report to a sum task. Show both to people before they agree. */
export interface SumPrivacy {
  /** Party that people have to trust. There is no local ε. */
  readonly trust: "shuffler";
  /**
   * Central ε of one report. It protects the shuffled batch, but not the messages before they are
   * shuffled.
   */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
  /** Minimum number of people in a batch. */
  readonly people: number;
  /** Number of these people who are assumed to follow the protocol. */
  readonly honestPeople: number;
  /** Number of messages that each person sends. The maximum, if the number varies. */
  readonly messages: number;
  /** Size of a person's sealed upload, in bytes. The maximum, if the size varies. */
  readonly bytes: number;
  /** Explanation in plain words. The collector returns the same text for `GET /tasks/{id}`. */
  readonly statement: string;
}

const countWithNoun = (count: number, what: string) =>
  count === 1 ? `one ${what}` : `${count} ${what}s`;

/** Formats a number in scientific notation as Rust does: 1e-6, 2.5e-9. */
const formatScientific = (value: number) => value.toExponential().replace("e+", "e");

/** Returns the cost and the protection of one report to a sum task. */
export function privacyOf(task: SumTask): SumPrivacy {
  const { epsilon, delta, people } = task;
  const budget = budgetOf(task);
  const { days, reports } = budget;
  const [, messages] = messagesPerPerson(task);
  const honestPeople = honestPeopleOf(task);
  // A test compares this text with that of `SumPrivacy` in `server/analysis/src/promise.rs`.
  const length = countWithNoun(days, "day");
  const allowed =
    reports === 1 ? `one report in ${length}` : `${reports} reports in each window of ${length}`;
  const windows = maxReportsPerYear(budget);
  const year = `(${roundUpThreeDigits(epsilon * windows)}, ${formatScientific(roundUpThreeDigits(delta * windows))})`;
  return {
    trust: "shuffler",
    centralEpsilon: epsilon,
    delta,
    people,
    honestPeople,
    messages,
    bytes:
      UPLOAD_HEADER_LENGTH +
      varintLength(messages) +
      messages * (SEALING_OVERHEAD_BYTES + messageLength(task)),
    statement:
      "There is no local ε. Anyone who links messages to their sender reads the answer. The " +
      "shuffler and the analyser together could do that. Against someone who sees the shuffled " +
      "batch but nothing that links a report to a person (no order or time of arrival, no " +
      `address, no stable id), each batch is (${epsilon}, ${formatScientific(delta)})-differentially ` +
      "private for every person with one report in it: except with probability δ, a guess goes " +
      `from 50 % sure to at most ${maximumCertaintyPercent(epsilon)} % sure. This assumes that the shuffler ` +
      `follows the protocol, that every batch has at least ${people} people, and that the ` +
      `browsers of ${honestPeople} of them follow the protocol. A person's browser sends at most ` +
      `${allowed}. The 365 days from the first report add up to at most ${year}.`,
  };
}
