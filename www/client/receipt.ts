/** Receipts of calls of `report`. */

/** Receipt of a call of `report`, which says what was done with the answers. */
export interface Receipt {
  /**
   * Result of the call.
   *
   * - `queued`: a report was made and waits to be sent. If the task has cover reports, it has
   * replaced the one that was made from "no answer".
   * - `over-budget`: the window has no report left, or the report would exceed `maxEpsilon`, which
   * limits all tasks together. If the task's budget has a memo, also: the memo can no longer be
   * used, because consent was revoked or the question was changed. The next report is made after
   * the memo's epoch.
   * - `no-storage`: the browser cannot store what was spent, so nothing is reported. See the option
   * `storage`.
   * - `no-consent`: there is no consent. The answers were discarded.
   */
  readonly outcome: "queued" | "over-budget" | "no-storage" | "no-consent";
  /** ε that this call spent, in its window. */
  readonly epsilon: number;
  /**
   * Number of answers, or parts of answers, that were left out because the collector's task does
   * not have them. `onError` receives an error for each. If the page contains the task or pins its
   * fingerprint, `report` throws such an error instead.
   */
  readonly dropped: number;
}

/** Returns the receipt of a call that made no report. */
export const emptyReceipt = (outcome: Receipt["outcome"], dropped = 0): Receipt => ({
  outcome,
  epsilon: 0,
  dropped,
});
