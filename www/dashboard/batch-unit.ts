// Unit in which the reports of batches are counted: reports or, for sums, people. In tasks of sums,
// each person sends the same number of messages.

import { count, counted } from "../demo/shared/format.js";
import type { Batches, Task } from "./api.js";

export interface BatchUnit {
  readonly one: string;
  readonly more: string;
  /** Converts the collector's count of reports or messages to this unit. */
  readonly convert: (collected: number) => number;
  /** Minimum size of a batch in this unit, independent of the conditions that close the batch. */
  readonly min: number;
}

export const REPORT_UNIT: BatchUnit = {
  one: "report",
  more: "reports",
  convert: (reports) => reports,
  min: 0,
};

/** Returns the unit in which batches of a task are counted. */
export function batchUnitOf({ messages, people = 0 }: Task): BatchUnit {
  if (messages === undefined) return REPORT_UNIT;
  const each = messages.levels * messages.drawn + messages.noise;
  return { one: "person", more: "people", convert: (own) => own / each, min: people };
}

/** Returns the minimum and maximum size of a batch in this unit. */
export function limitsOf({ convert, min }: BatchUnit, closes: Batches["closes"]) {
  const own = Math.max(Math.ceil(convert(closes.least)), min);
  return [own, Math.max(Math.ceil(convert(closes.most)), own)] as const;
}

/** Returns the word with a capital letter. */
export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * Returns "about " for fractions. The number of people is a fraction if some messages could not be
 * opened.
 */
const about = (value: number) => (Number.isInteger(value) ? "" : "about ");

/** Formats a count of reports or messages in this unit, with its noun: "400 people". */
export function formatWithUnit({ one, more, convert }: BatchUnit, collected: number): string {
  const value = convert(collected);
  return `${about(value)}${counted(Math.round(value), one, more)}`;
}

/** Formats a count of reports or messages in this unit, without a noun. */
export function formatCount({ convert }: BatchUnit, collected: number): string {
  return count(convert(collected));
}
