/** Interface between sessions and the code that makes reports, for either kind of task. */

import type { Entries } from "./input.js";
import type { AnyTask } from "./task.js";

/** Maker of the reports of one task. */
export interface ReportMaker {
  readonly task: AnyTask;
  /** Fingerprint of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Number of messages in a report, all of the same length. 1, except for sums. */
  readonly messages: number;
  /** Translates an input into the numbers that the core takes. */
  read(input: unknown): Entries;
  /** Randomises an input that {@link read} has translated. Returns the report. */
  make(entries: Entries): Uint8Array;
  /** Returns the header of an upload of `count` reports, with a new id. */
  uploadHeader(count: number): Uint8Array;
  /** Returns a 64-bit digest of bytes. */
  digest(bytes: Uint8Array): bigint;
  /** Returns lines of text about the cost of an upload. Absent if the cost is a local ε. */
  cost?(upload: Uint8Array): readonly string[];
  free(): void;
}
