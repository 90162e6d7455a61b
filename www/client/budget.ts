/**
 * Budgets of this browser. The budget of a task limits the number of its reports. The page's option
 * `maxEpsilon` limits the ε that all tasks of a collector spend together. Ledgers record what was
 * spent.
 */

import type { Bytes } from "./bytes.js";
import type { FetchedTask, ReportBudget } from "./task.js";

export const DAY_MS = 86_400_000;

/** Amount by which a sum of ε may exceed a limit because of rounding errors. */
export const EPSILON_TOLERANCE = 1e-9;

/**
 * Time in milliseconds for which charges are kept after the end of a window. If the clock is wrongly
 * ahead by less than this time, charges of open windows are therefore not erased.
 */
const CHARGE_RETENTION_MS = 400 * DAY_MS;

/** Memo of a task: a randomised answer from which all reports of an epoch are made. */
export interface LedgerMemo {
  /** End of the epoch, in milliseconds since 1970. No other memo is drawn before it. */
  readonly until: number;
  /** Text that identifies the question, its options and the parameters of the memo. */
  readonly question: string;
  /** Slot of the randomised answer. Null after consent was revoked. */
  readonly slot: number | null;
}

/**
 * Reservation of the budget for one report that is made when the page is left. The budget is spent
 * in advance, so the report does not have to wait for the database.
 */
export interface BudgetReservation {
  /**
   * Random id of the reservation. It is part of the name of the lock that the page holds, and of
   * the key of the journal entry.
   */
  readonly id: string;
  /** End of the window to which the report belongs, in milliseconds since 1970. */
  readonly until: number;
  readonly epsilon: number;
  /** Number of times that consent had been revoked when the budget was reserved. */
  readonly revoked: number;
  /** Time at which another page noticed that the reserving page is gone; 0 until then. */
  readonly orphaned: number;
}

/** Report that was made but may not be sent yet, because the task has cover reports. */
export interface HeldReport {
  /** Time at which it is sent, in milliseconds since 1970. */
  readonly due: number;
  /** Time at which it was made, in milliseconds since 1970. */
  readonly at: number;
  readonly epsilon: number;
  /** Bytes of the upload that contains only this report. */
  readonly bytes: Bytes;
  /** True if it was made from "no answer", so that an answer replaces it. */
  readonly isCover: boolean;
}

/**
 * Ledger of one task in this browser. It records the reports of the current window, and the ε spent
 * in total. It contains nothing about answers, except for a randomised answer if the budget has a
 * memo.
 */
export interface TaskLedger {
  /** End of the current window, in milliseconds since 1970. */
  readonly until: number;
  /** Length of the current window, in days. */
  readonly days: number;
  /** Number of reports in the current window. */
  readonly used: number;
  /** ε spent since the start of the ledger, and number of reports that spent it. */
  readonly spent: number;
  readonly reports: number;
  /** Latest memo of the task. Null if none was drawn. */
  readonly memo: LedgerMemo | null;
  /** Report of the window, until it is sent. Null if the task has no cover reports. */
  readonly held: HeldReport | null;
  /** Total size in bytes of the reports that wait to be sent. */
  readonly waitingBytes: number;
  /**
   * Number of times that consent was revoked. Sessions compare it to notice revocations in other
   * tabs and workers.
   */
  readonly revoked: number;
  /**
   * Task of the last report, as the collector described it. While the window is full, later pages
   * need not fetch the task. Null if the page contained the task.
   */
  readonly described: FetchedTask | null;
  /** End of the delay that the collector requested, in milliseconds since 1970. */
  readonly notBefore: number;
  /** Reservations: reports whose budget is spent, but which are not made yet. */
  readonly reserved: readonly BudgetReservation[];
}

export function emptyLedger(): TaskLedger {
  return {
    until: 0,
    days: 0,
    used: 0,
    spent: 0,
    reports: 0,
    memo: null,
    held: null,
    waitingBytes: 0,
    revoked: 0,
    described: null,
    notBefore: 0,
    reserved: [],
  };
}

/** Total ε that reports have spent in windows that end at the same time. */
interface WindowCharge {
  /** End of the windows, in milliseconds since 1970. */
  readonly until: number;
  readonly epsilon: number;
}

/** Ledger of all tasks of a collector: the ε that each window has spent. */
export type CollectorCharges = readonly WindowCharge[];

/** Ledgers of a task and of its collector in this browser. */
export interface TaskAndCollectorLedgers {
  /** Ledger of the task alone. */
  readonly taskLedger: TaskLedger;
  /** Ledger of all tasks of the collector, including this one. */
  readonly collectorCharges: CollectorCharges;
}

/**
 * Returns the ledger after consent was revoked. The slot of the memo is deleted, not its epoch. A
 * report that is held is deleted, not what it cost.
 */
export function ledgerAfterRevocation(ledger: TaskLedger): TaskLedger {
  const { memo, revoked } = ledger;
  return { ...ledger, memo: memo && { ...memo, slot: null }, held: null, revoked: revoked + 1 };
}

/**
 * Returns the ε that all tasks together have spent in the windows that are open at the time `now`.
 */
export function spentInOpenWindows(charges: CollectorCharges, now: number): number {
  return charges.reduce((sum, { until, epsilon }) => sum + (until > now ? epsilon : 0), 0);
}

/**
 * Returns the ledger of all tasks after a report that spent `epsilon`. The report is in a window
 * that ends at `until`. Windows that ended long ago are removed.
 */
function addCharge(
  charges: CollectorCharges,
  until: number,
  epsilon: number,
  now: number,
): CollectorCharges {
  // Reports of one window share an entry, so there are at most as many entries as windows.
  const [before] = charges.filter((each) => each.until === until);
  const others = charges.filter(
    (each) => each.until > now - CHARGE_RETENTION_MS && each !== before,
  );
  return [...others, { until, epsilon: (before?.epsilon ?? 0) + epsilon }];
}

/**
 * Returns the state of the ledger at the time `now`. If the ledger's window has ended, the number
 * of reports in the window becomes 0.
 */
export function ledgerAtTime(ledger: TaskLedger, now: number): TaskLedger {
  // A window stays open until its own end, also if the clock was set back to a time before it. The
  // end is never computed again: with the right time again, the window would have ended too early.
  const kept = withoutEndedMemo(ledger, now);
  return now < ledger.until || ledger.used === 0 ? kept : { ...kept, until: 0, used: 0 };
}

/** Returns the ledger without the memo, if its epoch has ended. The marker of the epoch stays. */
export function withoutEndedMemo(ledger: TaskLedger, now: number): TaskLedger {
  const { memo } = ledger;
  const isEnded = memo && memo.slot !== null && now >= memo.until;
  return isEnded ? { ...ledger, memo: { ...memo, slot: null } } : ledger;
}

/**
 * Returns true if the budget allows no further report in the window that is open at the time `now`.
 */
export function isWindowFull(ledger: TaskLedger, { reports }: ReportBudget, now: number): boolean {
  return ledgerAtTime(ledger, now).used >= reports;
}

/**
 * Returns the ledgers after a further report of the task. Returns undefined if the budgets do not
 * allow the report.
 *
 * @param before ledger of the task in its state at the time `now`, and ledger of all tasks
 * @param epsilon ε that the report spends in its window
 * @param lifetime ε that the report adds to the total since the start of the ledger
 * @param maxEpsilon maximum ε that all tasks together may spend in the windows that are open
 */
export function chargeReport(
  { taskLedger: ledger, collectorCharges: charges }: TaskAndCollectorLedgers,
  { days, reports }: ReportBudget,
  epsilon: number,
  lifetime: number,
  maxEpsilon: number,
  now: number,
): TaskAndCollectorLedgers | undefined {
  // A sum of rounded numbers may exceed the limit by a rounding error.
  const isOver = spentInOpenWindows(charges, now) + epsilon > maxEpsilon + EPSILON_TOLERANCE;
  if (isOver || ledger.used >= reports) {
    return undefined;
  }
  // A new version of the task may have longer windows. Its report must not get a shorter one.
  const isOpen = ledger.used > 0 && days <= ledger.days;
  const until = isOpen ? ledger.until : Math.max(ledger.until, now + days * DAY_MS);
  return {
    taskLedger: {
      ...ledger,
      until,
      days: isOpen ? ledger.days : days,
      used: ledger.used + 1,
      spent: ledger.spent + lifetime,
      reports: ledger.reports + 1,
    },
    collectorCharges: addCharge(charges, until, epsilon, now),
  };
}
