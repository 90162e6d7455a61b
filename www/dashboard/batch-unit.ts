// The unit in which the collector counts the content of batches: reports or, for sum tasks, people.

import { messagesPerPerson, type SumTask } from "../client/sums/task.js";
import { formatCountWithNoun } from "../demo/shared/format.js";
import type { BatchesResponse, Task } from "./api.js";

export interface BatchUnit {
  readonly singularNoun: string;
  readonly pluralNoun: string;
  /**
   * Maximum number of messages of one person. The conditions that close a batch count messages.
   * For reports, it is 1.
   */
  readonly messagesPerUnit: number;
  /**
   * Minimum size of a batch that privacy requires, in this unit. The conditions that close a batch
   * have separate limits.
   */
  readonly minBatchSize: number;
}

export const REPORT_UNIT: BatchUnit = {
  singularNoun: "report",
  pluralNoun: "reports",
  messagesPerUnit: 1,
  minBatchSize: 0,
};

/** Returns the unit in which the page counts the content of a task's batches. */
export function batchUnitOf(task: Task): BatchUnit {
  const { messages, people = 0 } = task;
  if (messages === undefined) return REPORT_UNIT;
  const [, messagesPerUnit] = messagesPerPerson(task as Task & SumTask);
  return {
    singularNoun: "person",
    pluralNoun: "people",
    messagesPerUnit,
    minBatchSize: people,
  };
}

/** Returns the minimum and maximum size of a batch, in this unit. */
export function minAndMaxBatchSize(
  { messagesPerUnit: each, minBatchSize: min }: BatchUnit,
  { least, most }: BatchesResponse["batch_settings"],
) {
  const own = Math.max(Math.ceil(least / each), min);
  return [own, Math.max(Math.ceil(most / each), own)] as const;
}

/** Returns the word with its first letter as a capital. */
export const capitalize = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns a number of this unit as text with its noun: "400 people". */
export const formatWithUnit = (
  { singularNoun: one, pluralNoun: more }: BatchUnit,
  count: number,
): string => formatCountWithNoun(count, one, more);
