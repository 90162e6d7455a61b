/** Settings in which sessions that seal reports differ from other sessions. */

import type { PackedEntries } from "./input.js";
import type { ReportMaker } from "./maker.js";
import type { Receipt } from "./receipt.js";
import type { ReportWithKey } from "./store/store.js";

/**
 * Receipt of a call of `report`, and the report that was made. The report is undefined if none was
 * made.
 */
export type ReportResult = readonly [receipt: Receipt, made: ReportWithKey | undefined];

/** Part of a session that the code for sealing needs. */
export interface SealableSession {
  readonly reportMaker: ReportMaker;
  /**
   * Decides whether answers may be reported, randomises them and charges the budget, in one atomic
   * step.
   *
   * @param pack returns an upload of only one report: of a report made from the memo if there is
   * one, or of a new report. If it throws, nothing is charged, and the caller gets the error
   */
  makeAndChargeReport(
    entries: PackedEntries,
    pack?: (report?: Uint8Array) => Uint8Array<ArrayBuffer>,
  ): Promise<ReportResult>;
}

/** Function that reports answers in several steps, for example because it seals the report. */
export type ReportFunction = (
  session: SealableSession,
  entries: PackedEntries,
) => Promise<ReportResult>;

/** Settings that replace the usual ones, which are for a local ε without sealing. */
export interface SessionOverrides {
  /** Function that sends requests, in place of the session's default one. */
  readonly fetch?: typeof globalThis.fetch;
  /** Maximum time in milliseconds that a report waits before it is sent. */
  readonly delayMs?: number;
  /** Function that creates the maker of reports. Undefined for tasks with a local ε. */
  readonly createMaker?: (() => Promise<ReportMaker>) | undefined;
  /**
   * Function that creates the session's {@link ReportFunction}. Undefined if reports are not
   * sealed.
   */
  readonly createReportFunction?: (engine: ReportMaker) => Promise<ReportFunction>;
}
