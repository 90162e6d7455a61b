/** Interface of stores. A store contains the ledger and the reports of a task in this browser. */

import type { TaskAndCollectorLedgers } from "../budget.js";
import type { Bytes } from "../bytes.js";

/** State of a report. */
export type ReportState =
  /** The report waits to be sent or acknowledged. */
  | "waiting"
  /** The report is on the collector's disk. */
  | "acknowledged"
  /** The collector permanently refused the report. */
  | "refused"
  /** Consent was revoked before the report was acknowledged. */
  | "withdrawn";

/** Report that was made: the randomised bytes, and the ε that they cost. */
export interface NewReport {
  /** Time at which the report was made, in milliseconds since 1970. */
  readonly at: number;
  /** ε that the report spent in its window. */
  readonly epsilon: number;
  /** Bytes of the upload that contains only this report. They have a unique id and never change. */
  readonly bytes: Bytes;
  readonly state: ReportState;
}

/** Report with its key in the store. */
export interface ReportWithKey extends NewReport {
  readonly key: number;
}

/** Result of a change of the ledgers. */
export interface LedgerChangeResult<R> extends TaskAndCollectorLedgers {
  /** Report to add. Undefined if no report was made. */
  readonly newReport?: NewReport;
  /** Result for the caller, who gets it after the ledgers and the report are stored. */
  readonly result: R;
}

/** Maximum number of remembered reports that no longer wait to be sent. */
export const MAX_SETTLED = 1000;

/** Store of the ledgers and the reports of one task. */
export interface Store {
  /** True if the content of the store outlives the page. */
  readonly durable: boolean;
  /** Returns the ledgers of the task and of its collector. */
  readLedgers(): Promise<TaskAndCollectorLedgers>;
  /**
   * Changes the ledgers, and adds the report that was made. Either both are stored or neither.
   * Changes of all tabs are made one after another, and each sees the result of the one before. A
   * ledger is not written if `change` returns it unchanged.
   *
   * @param changeLedgers returns synchronously; if it throws, nothing is changed
   * @param isStrict true if the change must be on the disk when the promise resolves, so that even
   * a power cut does not lose it. Default false
   * @returns the result and the added report, once both are stored
   * @throws StorageError, and what `change` throws
   */
  changeLedgers<R>(
    changeLedgers: (before: TaskAndCollectorLedgers) => LedgerChangeResult<R>,
    isStrict?: boolean,
  ): Promise<readonly [R, ReportWithKey | undefined]>;
  /** Returns the waiting reports of all tabs and earlier pages, oldest first. */
  readWaitingReports(): Promise<readonly ReportWithKey[]>;
  /** Sets the state of the given reports. Reports that no longer wait are unchanged. */
  setFinalState(keys: readonly number[], state: ReportState): Promise<void>;
  /**
   * Sets the state of all waiting reports to `withdrawn`, and deletes the slot of the memo. Records
   * in the ledger that consent was revoked.
   */
  withdrawReportsAndConsent(): Promise<void>;
  /** Returns all reports that the store remembers, the oldest first. */
  readAllReports(): Promise<readonly ReportWithKey[]>;
  /** Closes the store and frees its resources. */
  close(): void;
}
