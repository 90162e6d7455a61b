/** Requests of a session, for its task, its keys and its reports. */

import { ClosedError, NetworkError } from "./errors.js";
import type { ClientSettings } from "./options.js";
import { onProcessEnd } from "./page.js";
import { backoffMs, startTimer } from "./time.js";

/** Sends the requests of a session. After the session is stopped, nothing more is sent. */
export class SessionRequests {
  readonly #onError: ClientSettings["onError"];
  /** Sends a request. Rejects with ClosedError after the session is stopped. */
  readonly fetchUnlessStopped: typeof globalThis.fetch;
  /** Functions that reject the promises of {@link nextFailure} at the next failure. */
  readonly #failureListeners = new Set<(error: NetworkError) => void>();
  #requestedDelayEnd = 0;
  #endPause = () => {};
  /** True once nothing more may be sent or stored. */
  stopped = false;
  /** Called when the session is stopped. */
  onStop = () => {};
  /**
   * Checks before the next request that consent still holds. Undefined if this check is not needed.
   */
  confirmConsent: (() => Promise<void>) | undefined;

  constructor({ onError, fetch }: ClientSettings) {
    this.#onError = onError;
    // Without `confirm`, the request has begun when this returns.
    this.fetchUnlessStopped = async (input, init) => {
      if (this.confirmConsent) {
        await this.confirmConsent();
      }
      this.throwIfStopped();
      return fetch(input, init);
    };
  }

  /**
   * Throws if the session has been stopped.
   *
   * @throws ClosedError after the session was stopped
   */
  throwIfStopped(): void {
    if (this.stopped) {
      throw new ClosedError("client");
    }
  }

  /**
   * Repeats `attempt` until it succeeds. The delays between attempts increase. Callers must {@link
   * check} again before they use the result.
   *
   * @param attempt makes one attempt
   * @throws ClosedError once stopped
   * @throws any error of `attempt` that is not a NetworkError
   * @throws NetworkError in a process that is about to end
   */
  async retryUntilSuccess<R>(attempt: () => Promise<R>): Promise<R> {
    for (let failures = 1; ; failures += 1) {
      try {
        this.throwIfStopped();
        return await attempt();
      } catch (error) {
        this.throwIfStopped();
        if (!(error instanceof NetworkError)) {
          throw error;
        }
        this.#reportFailure(error);
        this.#requestedDelayEnd = Date.now() + (error.retryAfterMs ?? 0);
        let isEnding = false;
        const stop = onProcessEnd(() => {
          isEnding = true;
          this.#endPause();
        });
        await this.interruptibleDelay(backoffMs(failures, error.retryAfterMs));
        stop();
        // Callers that wait for a process that ends must not wait forever.
        if (isEnding) {
          throw error;
        }
      }
    }
  }

  /** Returns a promise that rejects at the next failed attempt. */
  nextFailure(): Promise<never> {
    return new Promise((_, reject) => {
      this.#failureListeners.add(reject);
    });
  }

  /** Ends the current delay between attempts, unless the collector requested it. */
  endUnrequestedPause(): void {
    if (Date.now() >= this.#requestedDelayEnd) {
      this.#endPause();
    }
  }

  /** Stops the session. Nothing is sent or stored any more. */
  stop(): void {
    this.stopped = true;
    this.#endPause();
    this.onStop();
  }

  #reportFailure(error: NetworkError): void {
    if (this.#failureListeners.size === 0) {
      this.#onError(error);
    }
    this.#failureListeners.forEach((reject) => void reject(error));
    this.#failureListeners.clear();
  }

  /** Waits until the time is over, or until {@link endUnrequestedPause} or {@link stop} is called. */
  interruptibleDelay(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = startTimer(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
