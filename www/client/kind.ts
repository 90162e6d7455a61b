/** Kinds of clients. For most tasks ε is local; for sums it is central. */

import type { ReportInput } from "./input.js";
import type { Receipt } from "./receipt.js";
import type { Stored } from "./store/store.js";
import type { SumInput } from "./sums/input.js";
import type { SumTask } from "./sums/task.js";
import type { Task } from "./task.js";

/** Budget of a task in this browser at this moment. */
export interface Spent {
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
  /** True if the browser remembers this budget after the page is closed. */
  readonly durable: boolean;
}

/** Report that has left this browser, or waits to be sent. */
export interface Sent extends Pick<Stored, "epsilon" | "bytes" | "state"> {
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
export interface SumSpent extends Pick<Spent, "used" | "until" | "reports" | "durable"> {
  /** Central ε of one report. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
  /** Number of reports that a window may contain. */
  readonly allowed: number;
  /** Total central ε of the reports that this browser has made, as far as it remembers. */
  readonly centralSpent: number;
}

/** Report of sums that has left this browser, or waits to be sent: all messages of one input. */
export interface SumSent extends Pick<Sent, "at" | "bytes" | "state"> {
  /** Central ε that the report spent. */
  readonly centralEpsilon: number;
  /** Probability δ that the guarantee of this ε fails. */
  readonly delta: number;
}

/** Types that a client returns, by the kind of its task. */
export interface Kind {
  /** Receipt of a call of `report`. */
  readonly receipt: unknown;
  /** Type of the budget in this browser. */
  readonly spent: unknown;
  /** Type of a report in the history. */
  readonly sent: unknown;
}

/** Types that a client returns for a task with a local ε. */
export interface LocalKind extends Kind {
  /** Receipt of a call of `report`. */
  readonly receipt: Receipt;
  /** Type of the budget in this browser. */
  readonly spent: Spent;
  /** Type of a report in the history. */
  readonly sent: Sent;
}

/** Types that a client returns for a task of sums. */
export interface SumKind extends Kind {
  /** Receipt of a call of `report`. */
  readonly receipt: SumReceipt;
  /** Type of the budget in this browser. */
  readonly spent: SumSpent;
  /** Type of a report in the history. */
  readonly sent: SumSent;
}

/**
 * Types that a client of a task returns.
 *
 * @typeParam T the task's type
 */
export type KindOf<T extends Task | SumTask> = [T] extends [Task]
  ? LocalKind
  : [T] extends [SumTask]
    ? SumKind
    : LocalKind | SumKind;

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

/** Translator of receipts, budgets and history into the terms of a kind of task. */
export interface Terms<K extends Kind> {
  (said: Receipt): K["receipt"];
  (said: Spent): K["spent"];
  (said: Sent): K["sent"];
}

/** Translation for tasks with a local ε, whose terms need no change. */
export const local: Terms<LocalKind> = <T>(said: T) => said;

/**
 * Returns the translation for a task of sums. Names of its fields say `central`, so that its ε
 * is not mistaken for a local one.
 */
export const central = ({ delta }: SumTask): Terms<SumKind> =>
  (({ epsilon, spent, dropped, ...rest }: Partial<Receipt & Spent>) => ({
    ...rest,
    centralEpsilon: epsilon,
    // If nothing was spent, nothing can fail.
    delta: epsilon ? delta : 0,
    ...(spent !== undefined && { centralSpent: spent }),
  })) as Terms<never>;
