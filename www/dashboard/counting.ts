// Unit in which the reports of batches are counted: reports or, for sums, people. In tasks of sums,
// each person sends the same number of messages.

import { count, counted } from "../demo/shared/format.js";
import type { Batches, Task } from "./api.js";

export interface Counting {
  readonly one: string;
  readonly more: string;
  /** Converts the collector's count of reports or messages to this unit. */
  readonly of: (collected: number) => number;
  /** Minimum size of a batch in this unit, independent of the conditions that close the batch. */
  readonly least: number;
}

export const REPORTS: Counting = {
  one: "report",
  more: "reports",
  of: (reports) => reports,
  least: 0,
};

/** Returns the unit in which batches of a task are counted. */
export function countingOf({ messages, people = 0 }: Task): Counting {
  if (messages === undefined) return REPORTS;
  const each = messages.levels * messages.drawn + messages.noise;
  return { one: "person", more: "people", of: (own) => own / each, least: people };
}

/** Returns the minimum and maximum size of a batch in this unit. */
export function limitsOf({ of, least }: Counting, closes: Batches["closes"]) {
  const own = Math.max(Math.ceil(of(closes.least)), least);
  return [own, Math.max(Math.ceil(of(closes.most)), own)] as const;
}

/** Returns the word with a capital letter. */
export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * Returns "about " for fractions. The number of people is a fraction if some messages could not be
 * opened.
 */
const about = (value: number) => (Number.isInteger(value) ? "" : "about ");

/** Formats a count of reports or messages in this unit, with its noun: "400 people". */
export function said({ one, more, of }: Counting, collected: number): string {
  const value = of(collected);
  return `${about(value)}${counted(Math.round(value), one, more)}`;
}

/** Formats a count of reports or messages in this unit, without a noun. */
export function amount({ of }: Counting, collected: number): string {
  return count(of(collected));
}
