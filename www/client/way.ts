/** Differences between sessions: the kind of task, and whether reports are sealed. */

import type { Entries } from "./input.js";
import type { ReportMaker } from "./maker.js";
import type { Receipt } from "./receipt.js";
import type { Stored } from "./store/store.js";

/** A report, and an upload of it alone, under an id of its own, as it will be sent. */
export type Packed = readonly [report: Uint8Array, bytes: Uint8Array<ArrayBuffer>];

/** Receipt for answers, with the report that was made of them. */
export type Changed = readonly [receipt: Receipt, made: Stored | undefined];

/** A session, as far as it is needed to seal its reports. */
export interface Reporting {
  readonly engine: ReportMaker;
  /**
   * Decides, randomises and charges in one step, which nothing comes between.
   *
   * @param pack makes a report, or takes the one that was made before; what it throws is thrown,
   * and nothing is charged
   */
  change(entries: Entries, pack?: (report?: Uint8Array) => Packed): Promise<Changed>;
}

/** Reports answers, where that takes more than one step. */
export type Report = (session: Reporting, entries: Entries) => Promise<Changed>;

/** Deviations of a session from one of plain reports. */
export interface Way {
  /** Sends requests. */
  readonly fetch?: typeof globalThis.fetch;
  /** Time that a report may wait for others. */
  readonly delayMs?: number;
  /** Makes the randomiser. */
  readonly maker?: (() => Promise<ReportMaker>) | undefined;
  /** Makes the function that reports answers. */
  readonly reporter?: (engine: ReportMaker) => Promise<Report>;
}
