/**
 * From store to collector: when to send, what to do when sending fails.
 *
 * At-least-once with ids: a report is sealed in an upload as it is made, and those
 * bytes are sent until they are acknowledged or refused for good. The collector counts
 * an upload that it gets twice once, so an attempt without an answer may always be
 * repeated, by another tab or a later page too.
 */

import { HushbinError, NetworkError, StorageError, UploadRejectedError } from "./errors.js";
import { alone } from "./lock.js";
import type { Store, Stored } from "./store/store.js";
import type { TaskSource } from "./task-source.js";
import { backoffMs, later } from "./time.js";
import type { Outcome, Transport } from "./transport.js";
import { FINGERPRINT_END } from "./upload.js";

/** Requests under way at once, unless the page is about to go. */
const CONCURRENT = 4;
/** Most uploads in one request: the core's bound on reports, which a test holds equal. */
export const MAX_UPLOADS = 4096;
/** Most bytes in one request: what a page may have under way as it is hidden. */
export const MAX_BYTES = 56 * 1024;

/** What {@link Delivery} is made of. */
export interface DeliveryParts {
  readonly store: Store;
  /** Says whether to stop. */
  readonly source: TaskSource;
  readonly transport: Transport;
  /** What tabs that send reports of this task take turns by. */
  readonly name: string;
  /** How long a report may wait for company. */
  readonly delayMs: number;
  /** Told of every failure that nobody waits for. */
  readonly onError: (error: HushbinError) => void;
  /** Told that the store knows of reports what has become of them. */
  readonly onSettled: () => void;
}

/** Uploads in requests, each of one task and not too long. */
export function requestsOf(uploads: readonly Stored[]): Stored[][] {
  const requests: Stored[][] = [];
  let last: Stored[] = [];
  let bytes = 0;
  let fingerprint = "";
  for (const upload of uploads) {
    const own = String(upload.bytes.subarray(0, FINGERPRINT_END));
    bytes += upload.bytes.length;
    if (own !== fingerprint || bytes > MAX_BYTES || last.length >= MAX_UPLOADS) {
      last = [];
      requests.push(last);
      bytes = upload.bytes.length;
      fingerprint = own;
    }
    last.push(upload);
  }
  return requests;
}

/** Sends what the store holds. */
export class Delivery {
  readonly #parts: DeliveryParts;
  /** What this page made and is not acknowledged, for the moment in which it goes. */
  readonly #own = new Map<number, Stored>();
  readonly #underway = new Set<number>();
  /** Size of what was made since the last round began. */
  #fresh = 0;
  /** What is being sent, and whether somebody waits for it. */
  #round: { readonly sent: Promise<void>; awaited: boolean } | undefined;
  #delayTimer: ReturnType<typeof setTimeout> | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  /** Why nothing is sent before the retry timer fires. */
  #halted: NetworkError | undefined;
  /** When the collector wants to hear from us again. */
  #notBefore = 0;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Number of reports that this page has made and the collector has not acknowledged. */
  get pending(): number {
    return this.#own.size;
  }

  /** A report was stored: sends when a request is full, after the delay otherwise. */
  made(report: Stored, hidden: boolean): void {
    this.#own.set(report.key, report);
    this.#fresh += report.bytes.length;
    if (this.#silent) {
      return;
    }
    if (hidden) {
      this.#handOver();
    } else if (this.#fresh >= MAX_BYTES) {
      this.#background();
    } else {
      this.#delayTimer ??= later(() => this.#background(), this.#parts.delayMs);
    }
  }

  /**
   * Sends everything that waits, now.
   *
   * @returns when all of it is acknowledged
   * @throws NetworkError at the first attempt that fails; what was not
   * acknowledged is kept and tried again later
   * @throws UploadRejectedError when an upload was refused for good
   * @throws ClosedError, StorageError
   */
  async flush(): Promise<void> {
    const before = this.#round;
    if (before !== undefined) {
      // It may have looked before the last report was made.
      before.awaited = true;
      await before.sent;
    }
    if (this.#halted !== undefined) {
      // The collector's wish outranks the caller's.
      if (Date.now() < this.#notBefore) {
        throw this.#halted;
      }
      this.#resume();
    }
    const round = this.#begin();
    round.awaited = true;
    await round.sent;
    this.#parts.source.check();
  }

  /** The page may go at any moment: hands everything to the browser at once. */
  hurry(): void {
    // There may be no later, so a pause of our own choosing ends here.
    if (Date.now() >= this.#notBefore) {
      this.#resume();
    }
    this.#handOver();
  }

  /** The network or the page is back: what waits, of earlier pages too, is sent. */
  wake(): void {
    if (Date.now() >= this.#notBefore) {
      this.#resume();
      this.#background();
    }
  }

  /** Ends all waiting, once the source is stopped. */
  end(): void {
    clearTimeout(this.#delayTimer);
    clearTimeout(this.#retryTimer);
  }

  /** Whether nothing may be sent now. */
  get #silent(): boolean {
    return this.#parts.source.stopped || this.#halted !== undefined;
  }

  #resume(): void {
    clearTimeout(this.#retryTimer);
    this.#halted = undefined;
  }

  #background(): void {
    if (this.#silent) {
      return;
    }
    const round = this.#begin();
    round.sent.catch((error: unknown) => {
      if (!round.awaited) {
        this.#parts.onError(error as HushbinError);
      }
    });
  }

  /** The round that is under way, or else a new one. */
  #begin(): { readonly sent: Promise<void>; awaited: boolean } {
    clearTimeout(this.#delayTimer);
    this.#delayTimer = undefined;
    this.#fresh = 0;
    this.#round ??= {
      sent: alone(this.#parts.name, () => this.#sendAll()).finally(() => {
        this.#round = undefined;
      }),
      awaited: false,
    };
    return this.#round;
  }

  /** Sends what waits; throws the first failure, once nothing is under way. */
  async #sendAll(): Promise<void> {
    const { source, store } = this.#parts;
    if (source.stopped) {
      return;
    }
    const before = [...this.#own.keys()];
    const waiting = await store.waiting();
    const keys = new Set(waiting.map(({ key }) => key));
    // What another tab has sent, or withdrawn.
    before.filter((key) => !keys.has(key)).forEach((key) => void this.#own.delete(key));
    const requests = requestsOf(waiting.filter(({ key }) => !this.#underway.has(key)));
    let failure: HushbinError | undefined;
    const work = async () => {
      for (;;) {
        const next = source.stopped ? undefined : requests.shift();
        const found = next && (await this.#attempt(next, requests));
        failure ??= found;
        if (next === undefined || found instanceof NetworkError) {
          return;
        }
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    if (failure !== undefined) {
      throw failure;
    }
  }

  /** All of the page's own, each to the browser before this returns. */
  #handOver(): void {
    if (this.#silent) {
      return;
    }
    const own = [...this.#own.values()].filter(({ key }) => !this.#underway.has(key));
    for (const request of requestsOf(own)) {
      void this.#attempt(request, []).then((error) => {
        if (error !== undefined) {
          this.#parts.onError(error);
        }
      });
    }
  }

  /**
   * Sends a request.
   *
   * @param further where parts of it are put that are to be sent by themselves
   * @returns what went wrong
   */
  async #attempt(request: Stored[], further: Stored[][]): Promise<HushbinError | undefined> {
    const keys = request.map(({ key }) => key);
    keys.forEach((key) => void this.#underway.add(key));
    const outcome = await this.#parts.transport.send(request.map(({ bytes }) => bytes));
    keys.forEach((key) => void this.#underway.delete(key));
    if (outcome.kind === "retry") {
      return this.#failed(outcome);
    }
    // Whatever the answer, the collector is there.
    this.#failures = 0;
    this.#resume();
    if (outcome.kind === "rejected" && request.length > 1) {
      // Perhaps for the sake of one of them: halves are sent until it is alone.
      further.push(request.splice(0, request.length / 2), request);
      return undefined;
    }
    try {
      const rejected = outcome.kind === "rejected";
      await this.#parts.store.settle(keys, rejected ? "refused" : "acknowledged");
    } catch (error) {
      // It is sent once more, and counted once.
      return error instanceof HushbinError ? error : new StorageError(error);
    }
    keys.forEach((key) => void this.#own.delete(key));
    this.#parts.onSettled();
    return outcome.kind === "rejected"
      ? new UploadRejectedError(outcome.status, keys.length, outcome.problem, outcome.detail)
      : undefined;
  }

  #failed({ reason, cause, status, retryAfterMs }: Outcome & { kind: "retry" }): NetworkError {
    const error = new NetworkError(`${reason}; reports are kept and sent again`, {
      cause,
      status,
      retryAfterMs,
    });
    // Attempts that fail together are one failure.
    if (this.#halted === undefined) {
      this.#failures += 1;
      const wait = backoffMs(this.#failures, retryAfterMs);
      this.#notBefore = Date.now() + (retryAfterMs ?? 0);
      this.#halted = error;
      if (!this.#parts.source.stopped) {
        this.#retryTimer = later(() => {
          this.#resume();
          this.#background();
        }, wait);
      }
    }
    return error;
  }
}
