/** Types that clients return. For most tasks ε is local; for sums it is central. */

import type { ReportInput } from "./input.js";
import type { Receipt } from "./receipt.js";
import type { StoredReport } from "./store/store.js";
import type { SumInput } from "./sums/input.js";
import type { SumTask } from "./sums/task.js";
import type { Task } from "./task.js";

/** Budget of a task in this browser at this moment. */
export interface BudgetStatus {
  /** ε of one report. Undefined while the task is not known. */
  readonly epsilon: number | undefined;
  /** Number of reports that a window may contain. Undefined while the task is not known. */
  readonly allowed: number | undefined;
  /** Number of reports in the current window. */
  readonly used: number;
  /** End of the current window. Undefined if no window is running. */
  readonly until: Date | undefined;
  /** Total ε of the reports that this browser has made, as far as it remembers. */
  readonly spent: number;
  /** Number of these reports. Permanent answers that were sent again are included. */
  readonly reports: number;
  /** Total ε in the windows that are open, of all tasks of the collector. */
  readonly spentOnAll: number;
  /** Maximum of `spentOnAll`: the option `maxEpsilon`. */
  readonly maxEpsilon: number;
  /**
   * True if the browser's database remembers this budget after the page is closed. Browsers may
   * delete the database, for example Safari after seven days without interaction. If it is false,
   * nothing is reported, unless the option `storage` says otherwise.
   */
  readonly durable: boolean;
}

/** Report that has left this browser, or waits to be sent. */
export interface HistoryEntry extends Pick<StoredReport, "epsilon" | "bytes" | "state"> {
  /** Time at which the report was made. */
  readonly at: Date;
}

/** Receipt of a call of `report`, for sums. */
export interface SumReceipt extends Pick<Receipt, "outcome"> {
  /** Central ε that this call spent. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails; 0 if nothing was spent. */
  readonly delta: number;
}

/** Central budget of a task in this browser at this moment. It contains no local ε. */
export interface SumBudgetStatus
  extends Pick<BudgetStatus, "used" | "until" | "reports" | "durable"> {
  /** Central ε of one report. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
  /** Number of reports that a window may contain. */
  readonly allowed: number;
  /** Total central ε of the reports that this browser has made, as far as it remembers. */
  readonly centralSpent: number;
  /** Total central ε in the windows that are open, of all tasks of sums of the collector. */
  readonly centralSpentOnAll: number;
  /** Maximum of `centralSpentOnAll`: the option `maxCentralEpsilon`. */
  readonly maxCentralEpsilon: number;
}

/** Report of sums that has left this browser, or waits to be sent: all messages of one input. */
export interface SumHistoryEntry extends Pick<HistoryEntry, "at" | "bytes" | "state"> {
  /** Central ε that the report spent. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
}

/** Types that a client returns, by the kind of its task. */
export interface Results {
  /** Receipt of a call of `report`. */
  readonly receipt: unknown;
  /** Type of the budget in this browser. */
  readonly budget: unknown;
  /** Type of a report in the history. */
  readonly entry: unknown;
}

/** Types that a client returns for a task with a local ε. */
export interface LocalResults extends Results {
  /** Receipt of a call of `report`. */
  readonly receipt: Receipt;
  /** Type of the budget in this browser. */
  readonly budget: BudgetStatus;
  /** Type of a report in the history. */
  readonly entry: HistoryEntry;
}

/** Types that a client returns for a task of sums. */
export interface SumResults extends Results {
  /** Receipt of a call of `report`. */
  readonly receipt: SumReceipt;
  /** Type of the budget in this browser. */
  readonly budget: SumBudgetStatus;
  /** Type of a report in the history. */
  readonly entry: SumHistoryEntry;
}

/**
 * Types that a client of a task returns.
 *
 * @typeParam T the task's type
 */
export type ResultsOf<T extends Task | SumTask> = [T] extends [Task]
  ? LocalResults
  : [T] extends [SumTask]
    ? SumResults
    : LocalResults | SumResults;

/**
 * One person's input to a task of either kind.
 *
 * @typeParam T the task's type; its names are checked if it is that of a literal
 */
export type InputOf<T extends Task | SumTask> = [T] extends [Task]
  ? ReportInput<T>
  : [T] extends [SumTask]
    ? SumInput<T>
    : ReportInput | SumInput;

/** Converts receipts, budgets and history entries to the types for one kind of task. */
export interface ResultConverter<K extends Results> {
  (result: Receipt): K["receipt"];
  (result: BudgetStatus): K["budget"];
  (result: HistoryEntry): K["entry"];
}

/** Converter for tasks with a local ε. It changes nothing. */
export const localConverter: ResultConverter<LocalResults> = <T>(result: T) => result;

/**
 * Returns the converter for a task of sums. It renames fields to say `central`, so that this
 * ε is not mistaken for a local one.
 */
export const sumConverter = ({ delta }: SumTask): ResultConverter<SumResults> =>
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
