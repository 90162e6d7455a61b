/** What calls of `report` come to, and how a page's author is told. */

import { hex } from "./bytes.js";
import type { ReportInput } from "./input.js";
import type { Settings } from "./options.js";

/** What a call of `report` came to. */
export interface Receipt {
  /**
   * `queued`: a report was made and waits to be sent. `unchanged`: these answers were
   * reported in this window already, and nothing new is sent. `over-budget`: the window's
   * reports are made, of answers that are other ones, or are not known any more: of the one
   * report of a window only the page that made it knows. `no-consent`: the answers are
   * forgotten.
   */
  readonly outcome: "queued" | "unchanged" | "over-budget" | "no-consent";
  /** ε that this call spent. */
  readonly epsilon: number;
  /**
   * How many answers, or parts of answers, were left out as the collector's task does not
   * know them. Of a task in the page they are errors.
   */
  readonly dropped: number;
}

/** What nothing was done for. */
export const nothing = (outcome: Receipt["outcome"], dropped = 0): Receipt => ({
  outcome,
  epsilon: 0,
  dropped,
});

/** ε as people read it: sums of floats have digits that mean nothing. */
const short = (epsilon: number) => `ε ${+epsilon.toPrecision(6)}`;

/**
 * Says what a call of `report` came to, in a line that opens: behind it stand the answers,
 * as they were given, and the bytes, which are all that is stored and sent.
 *
 * @param spent so far, with the report
 */
export function say(
  { id, dryRun }: Settings,
  input: ReportInput,
  { outcome, epsilon, dropped }: Receipt,
  { spent, bytes }: { spent?: number; bytes?: Uint8Array | undefined } = {},
): void {
  const digits = bytes && hex(bytes);
  const line = [outcome + (dryRun ? " (a dry run: nothing is sent)" : "")];
  if (spent !== undefined) {
    line.push(`${short(epsilon)} (${short(spent).slice(2)} so far)`);
  }
  if (dropped > 0) {
    line.push(`${dropped} unknown left out`);
  }
  if (digits !== undefined) {
    line.push(`${digits.length / 2} bytes ${digits.slice(0, 8)}…`);
  }
  console.groupCollapsed(`hushbin ${id}: ${line.join(", ")}`);
  console.log(input);
  if (digits !== undefined) {
    console.log(digits);
  }
  console.groupEnd();
}
