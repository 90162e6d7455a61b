/**
 * Budgets of one browser. A task's budget limits the number of its reports. The page's `maxEpsilon`
 * limits the ε of all tasks of a collector together. Ledgers record what was spent.
 */

import type { Budget, FetchedTask } from "./task.js";

const DAY_MS = 86_400_000;

/** Tolerance of sums of ε, which may exceed a limit by rounding errors. */
export const TOLERANCE = 1e-9;

/**
 * Time for which the charges of a window are kept after its end, in milliseconds. A clock that was
 * ahead for less than this must not erase the charges of windows that are open.
 */
const KEPT_MS = 400 * DAY_MS;

/** Stored report of a permanent answer. */
interface PermanentAnswer {
  readonly digest: bigint;
  /** Fingerprint of the task for which the report was made. */
  readonly fingerprint: string;
  readonly report: Uint8Array;
}

/** Permanent answers of one task. */
export interface Remembered {
  /** Random salt. Digests of equal answers therefore differ between browsers and tasks. */
  readonly salt: Uint8Array;
  /** End of the window to which `given` belongs, in milliseconds since 1970. */
  readonly until: number;
  /** Digests of the answers that were reported in this window. */
  readonly given: ReadonlySet<bigint>;
  /** Answers with their reports, oldest first. */
  readonly made: readonly PermanentAnswer[];
}

/**
 * Report whose budget is spent already, for a page that will be left. It is made when the page is
 * left, without waiting for the database.
 */
export interface Reservation {
  /** Random id. Also part of the name of a lock that the page holds, and of its journal entry. */
  readonly id: string;
  /** End of the window to which the report belongs, in milliseconds since 1970. */
  readonly until: number;
  readonly epsilon: number;
  /** Number of times that consent had been revoked before. */
  readonly revoked: number;
  /** Time at which another page found that the page is gone. 0 before that. */
  readonly orphaned: number;
}

/**
 * Ledger of one task in this browser: the reports made in the current window, and the ε spent in
 * total. It contains nothing about the answers, unless they are permanent.
 */
export interface Ledger {
  /** End of the current window, in milliseconds since 1970. */
  readonly until: number;
  /** Length of the current window, in days. */
  readonly days: number;
  /** Number of reports in the current window. */
  readonly used: number;
  /** ε spent and reports made since the ledger began. */
  readonly spent: number;
  readonly reports: number;
  /** Permanent answers and their reports. Null if answers are fresh. */
  readonly remembered: Remembered | null;
  /** Total size of the reports that wait to be sent, in bytes. */
  readonly waitingBytes: number;
  /** Number of times that consent was revoked. Sessions of all tabs and workers compare it. */
  readonly revoked: number;
  /**
   * Task for which the last report was made, as the collector described it. While the window is
   * full, later pages need not fetch it. Null if the task was in the page.
   */
  readonly described: FetchedTask | null;
  /** Time before which the collector wants no request, in milliseconds since 1970. */
  readonly notBefore: number;
  /** Reports that are spent already and not made yet. */
  readonly reserved: readonly Reservation[];
}

export function newLedger(): Ledger {
  return {
    until: 0,
    days: 0,
    used: 0,
    spent: 0,
    reports: 0,
    remembered: null,
    waitingBytes: 0,
    revoked: 0,
    described: null,
    notBefore: 0,
    reserved: [],
  };
}

/** ε that the reports of one or more windows have spent, and the end of these windows. */
interface Charge {
  /** End of the windows, in milliseconds since 1970. */
  readonly until: number;
  readonly epsilon: number;
}

/** Ledger of all tasks of a collector: the ε of the windows that are open. */
export type Charges = readonly Charge[];

/** Returns the ε that the windows that are open at `now` have spent, over all tasks. */
export function spentOf(charges: Charges, now: number): number {
  return charges.reduce((sum, { until, epsilon }) => sum + (until > now ? epsilon : 0), 0);
}

/**
 * Returns the ledger of all tasks after a report that spent `epsilon`, in a window that ends at
 * `until`. Windows that ended long ago are removed.
 */
export function withCharge(charges: Charges, until: number, epsilon: number, now: number): Charges {
  // Reports of one window share an entry, so there are at most as many entries as windows.
  const [before] = charges.filter((each) => each.until === until);
  const others = charges.filter((each) => each.until > now - KEPT_MS && each !== before);
  return [...others, { until, epsilon: (before?.epsilon ?? 0) + epsilon }];
}

/**
 * Returns whether the budgets allow a report that spends `epsilon`.
 *
 * @param ledger ledger of the task as of the time `now`
 * @param maxEpsilon maximum ε of the windows that are open, over all tasks
 */
export function allows(
  ledger: Ledger,
  charges: Charges,
  { reports }: Budget,
  epsilon: number,
  maxEpsilon: number,
  now: number,
): boolean {
  // A sum of rounded numbers may exceed the limit by a rounding error.
  const isOver = epsilon > 0 && spentOf(charges, now) + epsilon > maxEpsilon + TOLERANCE;
  return !isOver && ledger.used < reports;
}

/** Returns the ledger as of the time `now`. If its window has ended, no report is in the window. */
export function ledgerAt(ledger: Ledger, now: number): Ledger {
  // A window stays open until its own end, also if the clock was set back to a time before it. The
  // end is never computed anew: with the right time again, the window would have ended too early.
  return now < ledger.until || ledger.used === 0 ? ledger : { ...ledger, until: 0, used: 0 };
}

/** Returns whether all reports of the window that is open at `now` have been made. */
export function isFull(ledger: Ledger, { reports }: Budget, now: number): boolean {
  return ledgerAt(ledger, now).used >= reports;
}

/**
 * Returns the ledger after a report.
 *
 * @param epsilon ε that the report spent; 0 if it was made before
 */
export function chargeLedger(
  ledger: Ledger,
  { days }: Budget,
  epsilon: number,
  now: number,
): Ledger {
  // A new version of the task may have longer windows. Its report must not get a shorter one.
  const isOpen = ledger.used > 0 && days <= ledger.days;
  return {
    ...ledger,
    until: isOpen ? ledger.until : Math.max(ledger.until, now + days * DAY_MS),
    days: isOpen ? ledger.days : days,
    used: ledger.used + 1,
    spent: ledger.spent + epsilon,
    reports: ledger.reports + 1,
  };
}
