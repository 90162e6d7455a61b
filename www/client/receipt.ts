/** Receipts of calls of `report`, and the log for a page's author. */

import { hex } from "./bytes.js";
import type { Settings } from "./options.js";

/** Receipt that a call of `report` returns: what was done with the answers. */
export interface Receipt {
  /**
   * Result of the call.
   *
   * - `queued`: a report was made and waits to be sent.
   * - `unchanged`: these answers were already reported in this window. Nothing new is sent.
   * - `over-budget`: all reports of the window have been made, and these answers are not known to
   *   be among them. If a window has one report, only the page that made it can recognise its
   *   answers.
   * - `no-consent`: there is no consent. The answers were discarded.
   */
  readonly outcome: "queued" | "unchanged" | "over-budget" | "no-consent";
  /** ε that this call spent. */
  readonly epsilon: number;
  /**
   * Number of answers, or parts of answers, that were left out because the collector's task does
   * not have them. If the task is in the page, they are errors instead.
   */
  readonly dropped: number;
}

/** Returns the receipt of a call that made no report. */
export const emptyReceipt = (outcome: Receipt["outcome"], dropped = 0): Receipt => ({
  outcome,
  epsilon: 0,
  dropped,
});

/** Rounds ε to 6 significant digits. Further digits are rounding errors of sums. */
const roundEpsilon = (epsilon: number) => Number(epsilon.toPrecision(6));

/** Information about a report in addition to its receipt. */
interface LogDetails {
  /** ε spent so far, this report included. */
  readonly spent?: number | undefined;
  readonly bytes?: Uint8Array | undefined;
  /** Returns lines of text about the cost of an upload. Absent if the cost is a local ε. */
  readonly cost?: ((bytes: Uint8Array) => readonly string[]) | undefined;
}

/**
 * Logs the result of a `report` call as one line. Expanding the line shows the answers as they were
 * given, and the bytes. These bytes are all that is stored and sent.
 */
export function logReceipt(
  { id, dryRun }: Settings,
  input: unknown,
  { outcome, epsilon, dropped }: Receipt,
  { spent, bytes, cost }: LogDetails = {},
): void {
  const digits = bytes && hex(bytes);
  const line = [outcome + (dryRun ? " (a dry run: nothing is sent)" : "")];
  if (cost) {
    line.push(...(bytes ? cost(bytes) : []));
  } else if (spent !== undefined) {
    line.push(`ε ${roundEpsilon(epsilon)} (${roundEpsilon(spent)} so far)`);
  }
  if (dropped > 0) {
    line.push(`${dropped} unknown left out`);
  }
  if (digits !== undefined && !cost) {
    line.push(`${digits.length / 2} bytes ${digits.slice(0, 8)}…`);
  }
  console.groupCollapsed(`hushbin ${id}: ${line.join(", ")}`);
  console.log(input);
  if (digits !== undefined) {
    console.log(digits);
  }
  console.groupEnd();
}
