/** Settings of sessions that seal reports, or report to a task of sums. */

import type { Entries } from "./input.js";
import type { ReportMaker } from "./maker.js";
import type { Receipt } from "./receipt.js";
import type { StoredReport } from "./store/store.js";

/** Report, and the bytes of the upload that contains only this report. */
export type PackedReport = readonly [report: Uint8Array, bytes: Uint8Array<ArrayBuffer>];

/** Receipt for answers, and the report that was made from them. */
export type ReportResult = readonly [receipt: Receipt, made: StoredReport | undefined];

/** Part of a session that is needed to seal reports. */
export interface SealableSession {
  readonly engine: ReportMaker;
  /**
   * Decides, randomises and charges in one atomic step.
   *
   * @param pack makes a report, or receives the one that was made before. If it throws, nothing is
   * charged, and the error is passed on
   */
  change(entries: Entries, pack?: (report?: Uint8Array) => PackedReport): Promise<ReportResult>;
}

/** Function that reports answers in more than one step. */
export type ReportFunction = (session: SealableSession, entries: Entries) => Promise<ReportResult>;

/** Settings that replace those of a session with a local ε and without sealing. */
export interface SessionOverrides {
  /** Function that sends requests, in place of the session's default one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Maximum time that a report waits before it is sent, in milliseconds. */
  readonly delayMs?: number;
  /** Function that makes the maker of reports. Undefined for tasks with a local ε. */
  readonly maker?: (() => Promise<ReportMaker>) | undefined;
  /** Makes the session's {@link ReportFunction}. Undefined if reports are not sealed. */
  readonly reporter?: (engine: ReportMaker) => Promise<ReportFunction>;
}
