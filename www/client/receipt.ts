/** Receipts of calls of `report`. */

/** Receipt of a call of `report`, which says what was done with the answers. */
export interface Receipt {
  /**
   * True if a report was made. It is stored, and sent within a few seconds, or as soon as the
   * collector can be reached. If the task has cover reports, it has replaced the one that was made
   * from "no answer".
   */
  readonly sent: boolean;
  /**
   * Reason why no report was made. Absent if `sent` is true.
   *
   * - `over-budget`: the window has no report left, or the report would exceed `maxEpsilon`, which
   * limits all tasks together. If the task's budget has a memo, also: the memo can no longer be
   * used, because consent was revoked or the question was changed. The next report is made after
   * the memo's epoch.
   * - `no-storage`: the browser cannot store what was spent, so nothing is reported. See the option
   * `storage`.
   * - `no-consent`: there is no consent. The answers were discarded.
   */
  readonly reason?: "over-budget" | "no-storage" | "no-consent";
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
export const emptyReceipt = (reason: NonNullable<Receipt["reason"]>, dropped = 0): Receipt => ({
  sent: false,
  reason,
  epsilon: 0,
  dropped,
});
