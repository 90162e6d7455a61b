/** What calls of `report` come to, and how a page's author is told. */

import { hex } from "./bytes.js";
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
const short = (epsilon: number) => Number(epsilon.toPrecision(6));

/** What is said of a report beside its receipt. */
interface Beside {
  /** ε spent so far, with the report. */
  readonly spent?: number | undefined;
  readonly bytes?: Uint8Array | undefined;
  /** Tells what bytes cost, in place of local ε. */
  readonly told?: ((bytes: Uint8Array) => readonly string[]) | undefined;
}

/**
 * Says what a call of `report` came to, in a line that opens: behind it stand the answers,
 * as they were given, and the bytes, which are all that is stored and sent.
 */
export function say(
  { id, dryRun }: Settings,
  input: unknown,
  { outcome, epsilon, dropped }: Receipt,
  { spent, bytes, told }: Beside = {},
): void {
  const digits = bytes && hex(bytes);
  const line = [outcome + (dryRun ? " (a dry run: nothing is sent)" : "")];
  if (told) {
    line.push(...(bytes ? told(bytes) : []));
  } else if (spent !== undefined) {
    line.push(`ε ${short(epsilon)} (${short(spent)} so far)`);
  }
  if (dropped > 0) {
    line.push(`${dropped} unknown left out`);
  }
  if (digits !== undefined && !told) {
    line.push(`${digits.length / 2} bytes ${digits.slice(0, 8)}…`);
  }
  console.groupCollapsed(`hushbin ${id}: ${line.join(", ")}`);
  console.log(input);
  if (digits !== undefined) {
    console.log(digits);
  }
  console.groupEnd();
}
