/** Interface of stores, which keep a browser's ledger and its reports. */

import type { Charges, Ledger } from "../budget.js";

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

/** Report that was made: randomised bytes and the ε that they cost. */
export interface NewReport {
  /** Time at which the report was made, in milliseconds since 1970. */
  readonly at: number;
  /** ε that the report spent; 0 if a permanent answer was sent again. */
  readonly epsilon: number;
  /** Upload of this report alone, with a unique id. These bytes never change. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly state: ReportState;
}

/** Report with its key in the store. */
export interface StoredReport extends NewReport {
  readonly key: number;
}

/** Ledgers of a task in this browser. */
export interface Ledgers {
  /** Ledger of the task alone. */
  readonly ledger: Ledger;
  /** Ledger of all tasks of the collector, this one included. */
  readonly charges: Charges;
}

/** Result of a change of the ledgers. */
export interface LedgerChange<R> extends Ledgers {
  /** Report to add, if one was made. */
  readonly made?: NewReport;
  /** Result for the caller, passed on once ledgers and report are stored. */
  readonly result: R;
}

/** Maximum number of settled reports that are remembered; a settled report no longer waits. */
export const MAX_SETTLED = 1000;

/** Store of one task's ledgers and reports. */
export interface Store {
  /** True if the store outlives the page. */
  readonly durable: boolean;
  /** Returns the ledgers. */
  ledgers(): Promise<Ledgers>;
  /**
   * Changes the ledgers and adds the report that was made: all or nothing. Changes of all tabs are
   * made one after another, and each sees the result of the one before. A ledger that the change
   * returns as it was is not written.
   *
   * @param change returns synchronously; if it throws, nothing is changed
   * @returns the result and the added report, once both are stored
   * @throws StorageError, and what `change` throws
   */
  change<R>(
    change: (before: Ledgers) => LedgerChange<R>,
  ): Promise<readonly [R, StoredReport | undefined]>;
  /** Returns the waiting reports of all tabs and earlier pages, oldest first. */
  waiting(): Promise<readonly StoredReport[]>;
  /** Sets the state of the given reports if they are waiting. */
  settle(keys: readonly number[], state: ReportState): Promise<void>;
  /** Withdraws all waiting reports, and records in the ledger that consent was revoked. */
  withdraw(): Promise<void>;
  /** Returns all remembered reports, oldest first. */
  history(): Promise<readonly StoredReport[]>;
  /** Closes the store. */
  close(): void;
}
