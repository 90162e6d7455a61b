/**
 * Delivery of stored reports to the collector: when they are sent, and what happens if sending
 * fails.
 *
 * Each upload has an id, so an upload that arrives several times is counted once. An attempt
 * without a response may therefore be repeated, also by another tab or a later page. Each report
 * becomes an upload when it is made. Exactly the bytes of this upload are sent until the collector
 * acknowledges or permanently refuses them.
 */

import { HushbinError, NetworkError, StorageError, UploadRejectedError } from "./errors.js";
import { runExclusively } from "./lock.js";
import { isHidden } from "./page.js";
import type { SessionRequests } from "./session-requests.js";
import type { ReportWithKey, Store } from "./store/store.js";
import { backoffMs, startTimer } from "./time.js";
import { MAX_RETRY_AFTER_MS, type SendResult, type UploadTransport } from "./transport.js";
import { FINGERPRINT_END } from "./upload.js";

/** Maximum number of uploads in a request. By default, collectors take at most 256 reports. */
const MAX_UPLOADS = 64;
/**
 * Maximum size of a request in bytes. A request of this size can be completed after the page is
 * closed; see `KEEPALIVE_BYTES` in `transport.ts`.
 */
export const MAX_REQUEST_BYTES = 56 * 1024;

/** Objects and functions that {@link Delivery} needs. */
export interface DeliveryDependencies {
  readonly store: Store;
  /** Requests of the session. They also say whether the session was stopped. */
  readonly sessionRequests: SessionRequests;
  readonly transport: UploadTransport;
  /** Name of the lock that makes tabs take turns in sending the reports of this task. */
  readonly lockName: string;
  /** Maximum time in milliseconds that a report waits for further reports to share its request. */
  readonly maxBatchDelayMs: number;
  /** Receives every failure that no caller waits for. */
  readonly onError: (error: HushbinError) => void;
  /** Called after the store has recorded new states of reports. */
  readonly onReportStatesStored: () => void;
  /**
   * Called when the collector requests a delay. `notBefore` is its end, in milliseconds since 1970.
   */
  readonly onDelayRequested: (notBefore: number) => void;
}

/**
 * Groups uploads into requests. The uploads of a request are all for the same task. A request stays
 * within {@link MAX_UPLOADS} and {@link MAX_REQUEST_BYTES}.
 */
function groupIntoRequests(uploads: readonly ReportWithKey[]): ReportWithKey[][] {
  const requests: ReportWithKey[][] = [];
  let last: ReportWithKey[] = [];
  let bytes = 0;
  let fingerprint = "";
  for (const upload of uploads) {
    // Version and fingerprint must be equal, because a request is for one task.
    const own = String(upload.bytes.subarray(0, FINGERPRINT_END));
    bytes += upload.bytes.length;
    if (own !== fingerprint || bytes > MAX_REQUEST_BYTES || last.length >= MAX_UPLOADS) {
      last = [];
      requests.push(last);
      bytes = upload.bytes.length;
      fingerprint = own;
    }
    last.push(upload);
  }
  return requests;
}

/** Attempt to send all reports that are waiting. */
interface SendingRound {
  /** Resolves at the end of the round, with the keys of the reports that waited at its start. */
  readonly sentKeysPromise: Promise<ReadonlySet<number>>;
  /** True if a caller waits for the round. */
  hasWaitingCaller: boolean;
}

/** Sends the reports in a store to the collector. */
export class Delivery {
  readonly #dependencies: DeliveryDependencies;
  /**
   * Reports that this page has made and the collector has not acknowledged, by key. {@link sendOnPageHide}
   * sends them.
   */
  readonly #unacknowledged = new Map<number, ReportWithKey>();
  readonly #inFlightReportKeys = new Set<number>();
  readonly #closingAttempts = new Set<Promise<unknown>>();
  /** Total size in bytes of the reports that were made after the last round began. */
  #newBytes = 0;
  /** Round of sending that is in progress. */
  #round: SendingRound | undefined;
  #delayTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** Reason why nothing is sent until the retry timer fires. Undefined while sending is allowed. */
  #pauseReason: NetworkError | undefined;
  /** End of the delay that the collector requested, in milliseconds since 1970. */
  #collectorDelayEnd = 0;

  constructor(parts: DeliveryDependencies) {
    this.#dependencies = parts;
  }

  /** Number of reports that this page has made and the collector has not acknowledged. */
  get pendingCount(): number {
    return this.#unacknowledged.size;
  }

  /**
   * Schedules the sending of a stored report. It is sent at once if the page is hidden or a request
   * is full, otherwise after the delay `maxBatchDelayMs`.
   */
  scheduleReport(report: ReportWithKey, hidden = isHidden()): void {
    this.#unacknowledged.set(report.key, report);
    this.#newBytes += report.bytes.length;
    if (this.#paused) {
      return;
    }
    if (hidden) {
      this.#sendBeforeClose();
    } else if (this.#newBytes >= MAX_REQUEST_BYTES) {
      this.#sendInBackground();
    } else {
      this.#delayTimer ??= startTimer(
        () => this.#sendInBackground(),
        this.#dependencies.maxBatchDelayMs,
      );
    }
  }

  /**
   * Sends all waiting reports now.
   *
   * @returns when all of them are acknowledged
   * @throws NetworkError at the first attempt that fails; unacknowledged reports are kept and tried
   * again later
   * @throws UploadRejectedError if an upload was permanently refused
   * @throws ClosedError, StorageError
   */
  async flush(): Promise<void> {
    const before = this.#round;
    if (before !== undefined) {
      // That round may have read the store before the last report was made.
      before.hasWaitingCaller = true;
      await before.sentKeysPromise;
    }
    if (this.#pauseReason !== undefined) {
      // A delay that the collector requested takes precedence over the caller.
      if (Date.now() < this.#collectorDelayEnd) {
        throw this.#pauseReason;
      }
      this.#endPause();
    }
    const { sessionRequests: session, store } = this.#dependencies;
    const round = this.#startRound();
    round.hasWaitingCaller = true;
    const covered = await round.sentKeysPromise;
    // Requests that began when the page was hidden are no part of the round.
    await Promise.all(this.#closingAttempts);
    session.throwIfStopped();
    const left = await store.readWaitingReports();
    if (left.some(({ key }) => covered.has(key))) {
      throw this.#pauseReason ?? new NetworkError("some reports are not acknowledged");
    }
  }

  /**
   * Starts requests for all reports of this page before it returns, because the page may be about
   * to close.
   */
  sendOnPageHide(): void {
    // There may be no later attempt.
    this.#endPauseNotByCollector();
    this.#sendBeforeClose();
  }

  /**
   * Sends all waiting reports, including those of earlier pages. It is called when the network or
   * the page is available again.
   */
  resumeSending(): void {
    this.#endPauseNotByCollector();
    this.#sendInBackground();
  }

  /** Cancels all timers. The session must already be stopped. */
  stop(): void {
    clearTimeout(this.#delayTimer);
    clearTimeout(this.#retryTimer);
  }

  /** True while nothing may be sent. */
  get #paused(): boolean {
    return this.#dependencies.sessionRequests.stopped || this.#pauseReason !== undefined;
  }

  /** Ends the pause, unless the collector requested it. */
  #endPauseNotByCollector(): void {
    if (Date.now() >= this.#collectorDelayEnd) {
      this.#endPause();
    }
  }

  #endPause(): void {
    clearTimeout(this.#retryTimer);
    this.#pauseReason = undefined;
  }

  #sendInBackground(): void {
    if (this.#paused) {
      return;
    }
    const round = this.#startRound();
    round.sentKeysPromise.catch((error: unknown) => {
      // A session that has ended has closed its store.
      if (!round.hasWaitingCaller && !this.#dependencies.sessionRequests.stopped) {
        this.#dependencies.onError(error as HushbinError);
      }
    });
  }

  /** Returns the round in progress, or starts one. */
  #startRound(): SendingRound {
    clearTimeout(this.#delayTimer);
    this.#delayTimer = undefined;
    this.#newBytes = 0;
    this.#round ??= {
      sentKeysPromise: runExclusively(this.#dependencies.lockName, () => this.#sendAll()).finally(
        () => {
          this.#round = undefined;
        },
      ),
      hasWaitingCaller: false,
    };
    return this.#round;
  }

  /**
   * Sends all waiting reports, and returns the keys of these reports.
   *
   * @throws UploadRejectedError, NetworkError, StorageError after all requests have ended. If there
   * are several failures, a refusal is thrown first, because its reports are lost. Further refusals
   * are passed to `onError`
   */
  async #sendAll(): Promise<ReadonlySet<number>> {
    const { sessionRequests: session, store } = this.#dependencies;
    if (session.stopped) {
      return new Set();
    }
    // Listed before the store is read. Otherwise a report made in between would be missing from
    // `waiting`, and look as if another tab had sent it.
    const before = [...this.#unacknowledged.keys()];
    const waiting = await store.readWaitingReports();
    const keys = new Set(waiting.map(({ key }) => key));
    // Another tab has sent or withdrawn these.
    before.filter((key) => !keys.has(key)).forEach((key) => void this.#unacknowledged.delete(key));
    const requests = groupIntoRequests(
      waiting.filter(({ key }) => !this.#inFlightReportKeys.has(key)),
    );
    const failures: HushbinError[] = [];
    // At most four requests are underway. When the page may be about to close, more are.
    const work = async () => {
      for (;;) {
        const next = session.stopped ? undefined : requests.shift();
        const found = next && (await this.#sendOneRequest(next, requests));
        if (found) {
          failures.push(found);
        }
        // The remaining requests would fail as well.
        if (next === undefined || found instanceof NetworkError) {
          return;
        }
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    const [refusal, ...others] = failures.filter((each) => each instanceof UploadRejectedError);
    others.forEach((other) => void this.#dependencies.onError(other));
    if (failures.length > 0) {
      throw refusal ?? failures[0];
    }
    return keys;
  }

  /** Starts requests for all reports of this page before returning. */
  #sendBeforeClose(): void {
    if (this.#paused) {
      return;
    }
    const own = [...this.#unacknowledged.values()].filter(
      ({ key }) => !this.#inFlightReportKeys.has(key),
    );
    for (const request of groupIntoRequests(own)) {
      const attempt = this.#sendOneRequest(request, []).then((error) => {
        this.#closingAttempts.delete(attempt);
        if (error !== undefined) {
          this.#dependencies.onError(error);
        }
      });
      this.#closingAttempts.add(attempt);
    }
  }

  /**
   * Sends one request.
   *
   * @param further receives the halves of a refused request, which are sent as separate requests
   * @returns the failure, if any
   */
  async #sendOneRequest(
    request: ReportWithKey[],
    further: ReportWithKey[][],
  ): Promise<HushbinError | undefined> {
    const keys = request.map(({ key }) => key);
    keys.forEach((key) => void this.#inFlightReportKeys.add(key));
    const outcome = await this.#dependencies.transport.sendUploads(
      request.map(({ bytes }) => bytes),
    );
    keys.forEach((key) => void this.#inFlightReportKeys.delete(key));
    if (outcome.kind === "retry") {
      return this.#pauseAfterFailure(outcome);
    }
    // Any response but `retry` comes from the collector.
    this.#failures = 0;
    this.#endPauseNotByCollector();
    if (outcome.kind === "rejected" && request.length > 1) {
      // One bad upload may be the cause. Send each half as a request, until the bad upload is
      // alone.
      further.push(request.splice(0, request.length / 2), request);
      return undefined;
    }
    try {
      const rejected = outcome.kind === "rejected";
      await this.#dependencies.store.setFinalState(keys, rejected ? "refused" : "acknowledged");
    } catch (error) {
      // The upload will be sent again, and the collector counts it once.
      return error instanceof HushbinError ? error : new StorageError(error);
    }
    keys.forEach((key) => void this.#unacknowledged.delete(key));
    this.#dependencies.onReportStatesStored();
    return outcome.kind === "rejected"
      ? new UploadRejectedError(outcome.status, keys.length, outcome.problem, outcome.detail)
      : undefined;
  }

  #pauseAfterFailure({
    reason,
    cause,
    status,
    retryAfterMs,
  }: SendResult & { kind: "retry" }): NetworkError {
    const error = new NetworkError(`${reason}; reports are kept and sent again`, {
      cause,
      status,
      retryAfterMs,
    });
    // Concurrent attempts that fail together count as one failure.
    if (this.#pauseReason === undefined) {
      this.#failures += 1;
      this.#pauseSending(error, backoffMs(this.#failures, retryAfterMs), retryAfterMs);
      if (retryAfterMs) {
        this.#dependencies.onDelayRequested(this.#collectorDelayEnd);
      }
    }
    return error;
  }

  /**
   * Pauses sending for `ms` milliseconds. During the first `requestedMs` of them, no caller can end
   * the pause.
   */
  #pauseSending(reason: NetworkError, ms: number, requestedMs = 0): void {
    this.#collectorDelayEnd = Date.now() + requestedMs;
    this.#pauseReason = reason;
    if (!this.#dependencies.sessionRequests.stopped) {
      this.#retryTimer = startTimer(() => {
        this.#endPause();
        this.#sendInBackground();
      }, ms);
    }
  }

  /**
   * Starts the delivery with the waiting reports of earlier pages and sessions.
   *
   * @param notBefore end of a delay that the collector requested, in milliseconds since 1970
   */
  start(notBefore: number): void {
    // The collector asks for a day at most. A longer delay comes from a clock that was set back.
    const ms = Math.min(notBefore - Date.now(), MAX_RETRY_AFTER_MS);
    if (ms > 0) {
      this.#pauseSending(
        new NetworkError("the collector asks to wait", { retryAfterMs: ms }),
        ms,
        ms,
      );
    } else {
      this.resumeSending();
    }
  }
}
