/**
 * From outbox to collector: when to send, what to do when sending fails.
 *
 * At-least-once with ids: an upload is formed once and its bytes are sent
 * until they are acknowledged or refused for good. The collector counts an
 * upload that it gets twice once, so an attempt without an answer may always
 * be repeated.
 */

import { type HushbinError, NetworkError, UploadRejectedError } from "./errors.js";
import type { Outbox, SealedUpload, UploadHeader } from "./outbox.js";
import type { Transport } from "./transport.js";

/** Attempts under way at once, unless the page is about to go. */
const CONCURRENT = 4;
const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MOST_MS = 300_000;

/**
 * How long to wait after the `failures`-th failure in a row: exponential, and
 * between half and all of that, so that clients that failed together do not
 * come back together.
 *
 * @param random uniform in [0, 1)
 */
export function backoffMs(failures: number, random: number): number {
  const most = Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_MOST_MS);
  return (most / 2) * (1 + random);
}

/** What {@link Delivery} is made of. */
export interface DeliveryParts {
  readonly outbox: Outbox;
  readonly transport: Transport;
  readonly header: UploadHeader;
  /** How long a report may wait for company. */
  readonly delayMs: number;
  /** Told of every failure that nobody waits for. */
  readonly onError: (error: HushbinError) => void;
}

/** A call of `flush` and the uploads that it waits for. */
interface Waiter {
  readonly uploads: Set<SealedUpload>;
  readonly resolve: () => void;
  readonly reject: (error: HushbinError) => void;
  /** An upload that was refused; reported when the others are settled. */
  rejection: UploadRejectedError | undefined;
}

type Timer = ReturnType<typeof setTimeout>;

function later(run: () => void, ms: number): Timer {
  const timer = setTimeout(run, ms);
  // In Node a waiting report must not keep the process from ending.
  if (typeof timer === "object") {
    (timer as { unref?: () => void }).unref?.();
  }
  return timer;
}

/** Sends what the outbox holds. */
export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #underway = new Set<SealedUpload>();
  readonly #waiters = new Set<Waiter>();
  #delayTimer: Timer | undefined;
  #retryTimer: Timer | undefined;
  #failures = 0;
  /** Why nothing is sent before the retry timer fires. */
  #halted: NetworkError | undefined;
  /** When the collector wants to hear from us again. */
  #notBefore = 0;
  #stopped = false;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** A report was added: sends when an upload is full, or after the delay. */
  queued(): void {
    const { outbox, delayMs } = this.#parts;
    if (this.#stopped) {
      return;
    }
    if (outbox.full) {
      this.#background();
    } else {
      this.#delayTimer ??= later(() => this.#background(), delayMs);
    }
  }

  /**
   * Sends everything that waits, now.
   *
   * @returns when all of it is acknowledged
   * @throws NetworkError at the first attempt that fails; what was not
   * acknowledged is kept and tried again later
   * @throws UploadRejectedError when an upload was refused for good
   */
  flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#seal();
      const uploads = new Set(this.#parts.outbox.sealed);
      if (uploads.size === 0) {
        resolve();
        return;
      }
      if (this.#halted !== undefined) {
        // The collector's wish outranks the caller's.
        if (Date.now() < this.#notBefore) {
          reject(this.#halted);
          return;
        }
        this.#resume();
      }
      this.#waiters.add({ uploads, resolve, reject, rejection: undefined });
      this.#pump(CONCURRENT);
    });
  }

  /** The page may go at any moment: hands everything to the browser at once. */
  hurry(): void {
    // There may be no later, so a pause of our own choosing ends here.
    if (Date.now() >= this.#notBefore) {
      this.#resume();
    }
    this.#background(Number.POSITIVE_INFINITY);
  }

  /** Nothing is started from now on. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#delayTimer);
    clearTimeout(this.#retryTimer);
  }

  #background(concurrent = CONCURRENT): void {
    try {
      this.#seal();
    } catch (error) {
      this.#parts.onError(error as HushbinError);
    }
    this.#pump(concurrent);
  }

  /** Puts every waiting report into an upload. */
  #seal(): void {
    clearTimeout(this.#delayTimer);
    this.#delayTimer = undefined;
    while (this.#parts.outbox.seal(this.#parts.header) !== undefined) {}
  }

  #resume(): void {
    clearTimeout(this.#retryTimer);
    this.#halted = undefined;
  }

  #pump(concurrent: number): void {
    for (const upload of this.#parts.outbox.sealed) {
      if (this.#stopped || this.#halted !== undefined || this.#underway.size >= concurrent) {
        return;
      }
      if (!this.#underway.has(upload)) {
        this.#underway.add(upload);
        void this.#attempt(upload);
      }
    }
  }

  async #attempt(upload: SealedUpload): Promise<void> {
    const { outbox, transport } = this.#parts;
    const outcome = await transport.send(upload.bytes);
    this.#underway.delete(upload);
    if (outcome.kind === "retry") {
      this.#failed(
        new NetworkError(`${outcome.reason}; ${outbox.reports} reports are kept and sent again`, {
          cause: outcome.cause,
          status: outcome.status,
          retryAfterMs: outcome.retryAfterMs,
        }),
      );
      return;
    }
    // Whatever the answer, the collector is there.
    this.#failures = 0;
    this.#resume();
    await outbox.remove(upload);
    const { status, problem, detail } = outcome.kind === "rejected" ? outcome : {};
    this.#settled(
      upload,
      status === undefined
        ? undefined
        : new UploadRejectedError(status, upload.count, problem, detail),
    );
    this.#pump(CONCURRENT);
  }

  #settled(upload: SealedUpload, rejection: UploadRejectedError | undefined): void {
    let told = false;
    for (const waiter of this.#waiters) {
      if (!waiter.uploads.delete(upload)) {
        continue;
      }
      told = true;
      waiter.rejection ??= rejection;
      if (waiter.uploads.size > 0) {
        continue;
      }
      this.#waiters.delete(waiter);
      if (waiter.rejection === undefined) {
        waiter.resolve();
      } else {
        waiter.reject(waiter.rejection);
      }
    }
    if (rejection !== undefined && !told) {
      this.#parts.onError(rejection);
    }
  }

  #failed(error: NetworkError): void {
    // Attempts that fail together are one failure.
    if (this.#halted === undefined) {
      this.#failures += 1;
      const now = Date.now();
      // Not for privacy: only spreads the retries of many clients.
      const wait = Math.max(backoffMs(this.#failures, Math.random()), error.retryAfterMs ?? 0);
      this.#notBefore = now + (error.retryAfterMs ?? 0);
      this.#halted = error;
      if (!this.#stopped) {
        this.#retryTimer = later(() => {
          this.#resume();
          this.#pump(CONCURRENT);
        }, wait);
      }
    }
    if (this.#waiters.size === 0) {
      this.#parts.onError(error);
    }
    for (const waiter of this.#waiters) {
      waiter.reject(error);
    }
    this.#waiters.clear();
  }
}
