/** Timers: a timeout for requests, and delays before further attempts. */

/** Timeout of a request, in milliseconds. */
export const TIMEOUT_MS = 30_000;

const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MAX_MS = 300_000;

type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer. A timer of a Node process does not keep the process from ending. */
export function startTimer(run: () => void, ms: number): Timer {
  const timer = setTimeout(run, ms);
  if (typeof timer === "object") {
    (timer as { unref?: () => void }).unref?.();
  }
  return timer;
}

/**
 * Returns the delay in milliseconds before the attempt after `failures` failures in a row.
 *
 * The delay grows exponentially, and is at least as long as the collector requested. It is random
 * between half of the full delay and all of it, so that clients that failed together do not return
 * together.
 *
 * @param askedMs delay that the collector requested, in milliseconds
 * @param random number in [0, 1), which is not needed for privacy
 */
export function backoffMs(failures: number, askedMs = 0, random = Math.random()): number {
  const most = Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_MAX_MS);
  return Math.max((most / 2) * (1 + random), askedMs);
}

/**
 * Runs `work`, and aborts it after {@link TIMEOUT_MS}.
 *
 * @throws any error of `work`; a `TimeoutError` after the timeout
 */
export async function withTimeout<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort(
      new DOMException(
        `the collector did not answer within ${TIMEOUT_MS / 1000} s`,
        "TimeoutError",
      ),
    );
  }, TIMEOUT_MS);
  try {
    return await work(abort.signal);
  } catch (cause) {
    throw abort.signal.aborted ? abort.signal.reason : cause;
  } finally {
    clearTimeout(timer);
  }
}
