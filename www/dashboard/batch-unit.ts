// The unit in which the page counts the content of batches: reports or, for sum tasks, people. In a
// sum task, each person sends the same number of messages.

import { messagesPerPerson, type SumTask } from "../client/sums/task.js";
import { formatCount, formatCountWithNoun } from "../demo/shared/format.js";
import type { BatchesResponse, Task } from "./api.js";

export interface BatchUnit {
  readonly singularNoun: string;
  readonly pluralNoun: string;
  /** Converts a number of reports or messages, as the collector counts them, to this unit. */
  readonly convertCount: (collected: number) => number;
  /**
   * Minimum size of a batch that privacy requires, in this unit. The conditions that close a batch
   * have separate limits.
   */
  readonly minBatchSize: number;
}

export const REPORT_UNIT: BatchUnit = {
  singularNoun: "report",
  pluralNoun: "reports",
  convertCount: (reports) => reports,
  minBatchSize: 0,
};

/** Returns the unit in which the page counts the content of a task's batches. */
export function batchUnitOf(task: Task): BatchUnit {
  const { messages, people = 0 } = task;
  if (messages === undefined) return REPORT_UNIT;
  const [, each] = messagesPerPerson(task as Task & SumTask);
  return {
    singularNoun: "person",
    pluralNoun: "people",
    convertCount: (own) => own / each,
    minBatchSize: people,
  };
}

/** Returns the minimum and maximum size of a batch, in this unit. */
export function minAndMaxBatchSize(
  { convertCount: convert, minBatchSize: min }: BatchUnit,
  { least, most }: BatchesResponse["batch_settings"],
) {
  const own = Math.max(Math.ceil(convert(least)), min);
  return [own, Math.max(Math.ceil(convert(most)), own)] as const;
}

/** Returns the word with its first letter as a capital. */
export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/**
 * Returns "about " if the value is not whole. A number of people is not whole if some messages
 * could not be opened.
 */
const aboutIfFractional = (value: number) => (Number.isInteger(value) ? "" : "about ");

/**
 * Converts a number of reports or messages to this unit. Returns it as text with its noun: "400
 * people".
 */
export function formatWithUnit(
  { singularNoun: one, pluralNoun: more, convertCount: convert }: BatchUnit,
  collected: number,
): string {
  const value = convert(collected);
  return `${aboutIfFractional(value)}${formatCountWithNoun(Math.round(value), one, more)}`;
}

/** Converts a number of reports or messages to this unit. Returns it as text without its noun. */
export function formatWithoutUnit({ convertCount: convert }: BatchUnit, collected: number): string {
  return formatCount(convert(collected));
}
