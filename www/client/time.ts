/** Waiting: for an answer, for the next attempt. */

/** No answer for so long counts as none. */
export const TIMEOUT_MS = 30_000;

const BACKOFF_FIRST_MS = 1_000;
const BACKOFF_MOST_MS = 300_000;

type Timer = ReturnType<typeof setTimeout>;

/** A timer that in Node does not keep the process from ending. */
export function later(run: () => void, ms: number): Timer {
  const timer = setTimeout(run, ms);
  if (typeof timer === "object") {
    (timer as { unref?: () => void }).unref?.();
  }
  return timer;
}

/**
 * How long to wait after the `failures`-th failure in a row: exponential, and
 * between half and all of that, so that clients that failed together do not
 * come back together; no less than the collector asked for.
 *
 * @param askedMs what it asked for
 * @param random uniform in [0, 1); not for privacy
 */
export function backoffMs(failures: number, askedMs = 0, random = Math.random()): number {
  const most = Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_MOST_MS);
  return Math.max((most / 2) * (1 + random), askedMs);
}

/**
 * Runs `work`, and aborts it after {@link TIMEOUT_MS}.
 *
 * @throws what `work` throws; a `TimeoutError` once the time is over
 */
export async function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
