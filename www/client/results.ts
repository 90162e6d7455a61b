/** Types that a client returns. Their ε is local for most tasks, and central for sum tasks. */

import type { ReportInput } from "./input.js";
import type { Receipt } from "./receipt.js";
import type { ReportWithKey } from "./store/store.js";
import type { SumInput } from "./sums/input.js";
import type { SumTask } from "./sums/task.js";
import type { Task } from "./task.js";

/** State of a task's budget in this browser at this moment. */
export interface BudgetStatus {
  /** ε of one report. Undefined while the task is not known. */
  readonly epsilon: number | undefined;
  /** Number of reports allowed in a window. Undefined while the task is not known. */
  readonly allowed: number | undefined;
  /** Number of reports in the current window. */
  readonly used: number;
  /** End of the current window. Undefined if no window is running. */
  readonly until: Date | undefined;
  /**
   * Time at which the report of the current window is sent. Until then, an answer replaces it.
   * Absent if the report was sent, and if the task has no cover reports.
   */
  readonly heldUntil?: Date;
  /**
   * Total ε of all reports that this browser remembers having made. Reports that are made from a
   * memo spend the ε of the memo once, when it is drawn.
   */
  readonly spent: number;
  /** Number of these reports. */
  readonly reports: number;
  /** Total ε that all tasks of the collector have spent in the windows that are open. */
  readonly spentOnAll: number;
  /** Maximum of `spentOnAll`: the option `maxEpsilon`. */
  readonly maxEpsilon: number;
  /**
   * True if the browser's database stores this budget, so that it is still known after the page is
   * closed. Browsers may delete the database, for example Safari after seven days without
   * interaction. If this is false, nothing is reported, unless the option `storage` allows it.
   */
  readonly durable: boolean;
}

/** Report that has left this browser, or waits to be sent. */
export interface HistoryEntry extends Pick<ReportWithKey, "epsilon" | "bytes" | "state"> {
  /** Time at which the report was made. */
  readonly at: Date;
}

/** Receipt of a call of `report` for a sum task. */
export interface SumReceipt extends Pick<Receipt, "sent" | "reason"> {
  /** Central ε that this call spent. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails; 0 if nothing was spent. */
  readonly delta: number;
}

/** State of a sum task's budget in this browser at this moment. It contains no local ε. */
export interface SumBudgetStatus
  extends Pick<BudgetStatus, "used" | "until" | "reports" | "durable"> {
  /** Central ε of one report. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
  /** Number of reports allowed in a window. */
  readonly allowed: number;
  /** Total central ε of all reports that this browser remembers having made. */
  readonly centralSpent: number;
  /**
   * Total central ε that all sum tasks of the collector have spent in the windows that are open.
   */
  readonly centralSpentOnAll: number;
  /** Maximum of `centralSpentOnAll`: the option `maxCentralEpsilon`. */
  readonly maxCentralEpsilon: number;
}

/**
 * Report to a sum task that has left this browser, or waits to be sent. It contains all messages of
 * one input.
 */
export interface SumHistoryEntry extends Pick<HistoryEntry, "at" | "bytes" | "state"> {
  /** Central ε that the report spent. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
}

/** Types that a client returns. They depend on the kind of its task. */
export interface ResultTypes {
  /** Receipt of a call of `report`. */
  readonly receipt: unknown;
  /** Type of the state of the budget. */
  readonly budget: unknown;
  /** Type of an entry in the list of reports. */
  readonly entry: unknown;
}

/** Types that a client returns for a task with a local ε. */
export interface LocalResults extends ResultTypes {
  /** Receipt of a call of `report`. */
  readonly receipt: Receipt;
  /** Type of the state of the budget. */
  readonly budget: BudgetStatus;
  /** Type of an entry in the list of reports. */
  readonly entry: HistoryEntry;
}

/** Types that a client returns for a sum task. */
export interface SumResults extends ResultTypes {
  /** Receipt of a call of `report`. */
  readonly receipt: SumReceipt;
  /** Type of the state of the budget. */
  readonly budget: SumBudgetStatus;
  /** Type of an entry in the list of reports. */
  readonly entry: SumHistoryEntry;
}

/**
 * Types that a client returns for a task of type `T`.
 *
 * @typeParam T the task's type
 */
export type ResultsOf<T extends Task | SumTask> = [T] extends [Task]
  ? LocalResults
  : [T] extends [SumTask]
    ? SumResults
    : LocalResults | SumResults;

/**
 * Answers of one person to a task of type `T`, which may have a local or a central ε.
 *
 * @typeParam T the task's type; its names are checked if it is that of a literal
 */
export type InputOf<T extends Task | SumTask> = [T] extends [Task]
  ? ReportInput<T>
  : [T] extends [SumTask]
    ? SumInput<T>
    : ReportInput | SumInput;

/**
 * Function that converts receipts, budgets and history entries to the types for one kind of task.
 */
export interface ResultConverter<K extends ResultTypes> {
  (result: Receipt): K["receipt"];
  (result: BudgetStatus): K["budget"];
  (result: HistoryEntry): K["entry"];
}

/** Converter for tasks with a local ε. It changes nothing. */
export const convertLocalResult: ResultConverter<LocalResults> = <T>(result: T) => result;

/**
 * Returns the converter for a sum task. It renames fields so that all names of an ε contain
 * `central`. The ε is then not mistaken for a local one.
 */
export const createSumConverter = ({ delta }: SumTask): ResultConverter<SumResults> =>
  (({
    epsilon,
    spent,
    spentOnAll,
    maxEpsilon,
    dropped,
    ...rest
  }: Partial<Receipt & BudgetStatus>) => ({
    ...rest,
    centralEpsilon: epsilon,
    // If nothing was spent, nothing can fail.
    delta: epsilon ? delta : 0,
    ...(spent !== undefined && {
      centralSpent: spent,
      centralSpentOnAll: spentOnAll,
      maxCentralEpsilon: maxEpsilon,
    }),
  })) as ResultConverter<never>;
