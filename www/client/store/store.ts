/** Where a browser keeps what it has spent and what waits to be sent. */

import type { Ledger } from "../budget.js";

/** What has become of a report. */
export type ReportState =
  /** Not acknowledged yet. */
  | "waiting"
  /** On the collector's disk. */
  | "acknowledged"
  /** Refused by the collector for good. */
  | "refused"
  /** Forgotten before it was acknowledged, as consent was revoked. */
  | "withdrawn";

/** A report that was made: randomised bytes and what they cost. */
export interface Made {
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  /** ε that it spent: 0 where a permanent answer was sent again. */
  readonly epsilon: number;
  /** An upload of this report alone, under an id of its own: these bytes never change. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly state: ReportState;
}

/** A report by the number that it goes by in its store. */
export interface Stored extends Made {
  readonly key: number;
}

/** What a change makes of a ledger. */
export interface Change<R> {
  readonly ledger: Ledger;
  /** A report that was made. */
  readonly made?: Made;
  /** What became of it, told once both are stored. */
  readonly result: R;
}

/** How many settled reports are remembered. */
export const REMEMBERED = 1000;

/** One task's ledger and reports. */
export interface Store {
  /** Whether it outlives the page. */
  readonly durable: boolean;
  /** The ledger as it stands. */
  ledger(): Promise<Ledger>;
  /**
   * Changes the ledger and adds the report that was made, both or neither. Changes are
   * made one after another, those of other tabs included; each sees the one before.
   *
   * @param change returns at once; where it throws, nothing is changed
   * @returns when all is stored, the result, and the report that was added
   * @throws StorageError, and what `change` throws
   */
  change<R>(change: (ledger: Ledger) => Change<R>): Promise<readonly [R, Stored | undefined]>;
  /** What waits, oldest first: of all tabs, and of earlier pages. */
  waiting(): Promise<readonly Stored[]>;
  /** Says what has become of reports that waited; of others nothing is changed. */
  settle(keys: readonly number[], state: ReportState): Promise<void>;
  /** All reports that are remembered, oldest first. */
  history(): Promise<readonly Stored[]>;
  /** Ends its use. */
  close(): void;
}
