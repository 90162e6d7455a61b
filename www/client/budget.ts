/**
 * Budget of a task in one browser. The budget limits the number of reports. A ledger records the
 * reports that were made.
 */

import { concatBytes } from "./bytes.js";
import type { Budget } from "./task.js";

/** Maximum number of permanent answers that are stored, each with its report. */
const MAX_PERMANENT = 64;

const DAY_MS = 86_400_000;

/** Stored report of a permanent answer. */
interface PermanentReport {
  readonly digest: bigint;
  /** Fingerprint of the task for which the report was made. */
  readonly fingerprint: string;
  readonly report: Uint8Array;
}

/**
 * Ledger of one task in this browser: the reports made in the current window, and the ε spent in
 * total.
 */
export interface Ledger {
  /**
   * Random salt for the digests of answers.
   *
   * Digests of equal answers therefore differ between browsers and tasks. If answers are fresh,
   * they also differ between windows; see {@link saltOf}.
   */
  readonly salt: Uint8Array;
  /** Beginning and end of the current window, in milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** Digests of the answers that were reported in this window. */
  readonly given: Set<bigint>;
  /** ε spent and reports made since the ledger began. */
  readonly spent: number;
  readonly reports: number;
  readonly permanent: readonly PermanentReport[];
  /** Total size of the reports that wait to be sent, in bytes. */
  readonly waitingBytes: number;
}

export function newLedger(): Ledger {
  return {
    salt: crypto.getRandomValues(new Uint8Array(16)),
    from: 0,
    until: 0,
    given: new Set(),
    spent: 0,
    reports: 0,
    permanent: [],
    waitingBytes: 0,
  };
}

/** Ledger in this page's memory, used only for its salt. */
let pageLedger: Ledger | undefined;

/**
 * Returns the salt for the digests of answers. The salt differs between tasks, so that equal
 * answers to two tasks have different digests.
 *
 * A later page has to recognise answers in two cases: a window allows several reports, or answers
 * are permanent. In all other cases, part of the salt exists only in this page's memory. Once the
 * page is gone, the stored digest reveals nothing: without that part, guesses cannot be tested
 * against it.
 */
export function saltOf({ salt }: Ledger, { reports, answers }: Budget): Uint8Array {
  if (reports > 1 || answers === "permanent") {
    return salt;
  }
  pageLedger ??= newLedger();
  return concatBytes([pageLedger.salt, salt]);
}

/**
 * Returns the ledger as of the time `now`. If its window has ended, the recorded answers are
 * removed.
 */
export function ledgerAt(ledger: Ledger, { days, answers }: Budget, now: number): Ledger {
  // The clock was set back to a time before the window. Ending the window here would allow the
  // budget to be spent again. The window's end is recomputed from `now`, so that a clock that was
  // once far ahead does not keep it open forever.
  if (now < ledger.from) {
    return { ...ledger, from: now, until: now + days * DAY_MS };
  }
  if (now < ledger.until || ledger.given.size === 0) {
    return ledger;
  }
  // A new salt gives equal answers in two windows different digests. Permanent answers have to be
  // recognised in the next window.
  const { salt } = answers === "permanent" ? ledger : newLedger();
  return { ...ledger, salt, from: 0, until: 0, given: new Set() };
}

/** Decision on what to do with answers that a page reports. */
export type Decision =
  /** Randomise the answers. This spends ε. */
  | "draw"
  /** Send the stored report of these permanent answers again. This spends nothing. */
  | PermanentReport
  /** Do nothing: these answers were already reported in this window. */
  | "unchanged"
  /** Do nothing: all reports of this window have been made. */
  | "over-budget";

/**
 * Decides what to do with answers that have this digest. The ledger must be the result of
 * {@link ledgerAt}.
 */
export function decide(
  ledger: Ledger,
  budget: Budget,
  fingerprint: string,
  digest: bigint,
): Decision {
  if (ledger.given.has(digest)) {
    return "unchanged";
  }
  if (ledger.given.size >= budget.reports) {
    return "over-budget";
  }
  const before = ledger.permanent.find(
    // A report made under different parameters cannot be sent for this task.
    (each) => each.digest === digest && each.fingerprint === fingerprint,
  );
  return (budget.answers === "permanent" && before) || "draw";
}

/**
 * Returns the ledger after a report.
 *
 * @param epsilon ε that the report spent; 0 if it was made before
 */
export function chargeLedger(
  ledger: Ledger,
  { days, answers }: Budget,
  epsilon: number,
  made: PermanentReport,
  now: number,
): Ledger {
  const begins = ledger.given.size === 0;
  const others = ledger.permanent.filter((each) => each.digest !== made.digest);
  return {
    ...ledger,
    from: begins ? now : ledger.from,
    until: begins ? now + days * DAY_MS : ledger.until,
    // Modified in place: with many reports, copying the set takes longer than randomising.
    given: ledger.given.add(made.digest),
    spent: ledger.spent + epsilon,
    reports: ledger.reports + 1,
    permanent: answers === "permanent" ? [...others, made].slice(-MAX_PERMANENT) : [],
  };
}
