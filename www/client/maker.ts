/**
 * Interface between a session and the code that makes its reports, for tasks with a local ε and for
 * sum tasks.
 */

import type { PackedEntries } from "./input.js";
import type { AnyTask } from "./task.js";

/** Object that makes the reports of one task. */
export interface ReportMaker {
  readonly task: AnyTask;
  /** Fingerprint of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Translates a person's answers into the numbers that the core takes. */
  packAnswers(input: unknown): PackedEntries;
  /** Makes a report: randomises answers that {@link packAnswers} has translated. */
  makeReport(entries: PackedEntries): Uint8Array;
  /**
   * Returns the number of messages in a report that {@link makeReport} made, all of the same length.
   * It is 1 for tasks with a local ε.
   */
  countMessages(report: Uint8Array): number;
  /** Returns the header of an upload of `count` reports, with a new id. */
  uploadHeader(count: number): Uint8Array;
  /** Returns lines of text about the cost of an upload. Absent for tasks with a local ε. */
  describeCost?(upload: Uint8Array): readonly string[];
  free(): void;
}
