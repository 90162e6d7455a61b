/** What sessions need of what randomises, whichever kind of task it is for. */

import type { Entries } from "./input.js";
import type { AnyTask } from "./task.js";

/** What makes the reports of one task. */
export interface ReportMaker {
  readonly task: AnyTask;
  /** Identity of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Number of messages that a report has, each as long: one, except for sums. */
  readonly messages: number;
  /** An input as numbers. Draws nothing. */
  read(input: unknown): Entries;
  /** Randomises what was read. */
  make(entries: Entries): Uint8Array;
  /** What an upload of so many reports begins with, under an id of its own. */
  uploadHeader(count: number): Uint8Array;
  /** 64 bits that follow from bytes. */
  digest(bytes: Uint8Array): bigint;
  /** Tells what an upload of a report costs; local ε is told where this is left out. */
  told?(upload: Uint8Array): readonly string[];
  free(): void;
}
