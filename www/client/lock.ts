/** Mutual exclusion between tabs: only one of them sends the reports of a task at a time. */

import { onPageCacheChange } from "./page.js";
import { startTimer, TIMEOUT_MS } from "./time.js";

/** Maximum time in milliseconds to wait until another tab releases the lock. */
// A tab that hangs, or was frozen while it held the lock, must not silence all other tabs. If two
// tabs then send the same upload, it is counted once.
const LOCK_TIMEOUT_MS = 2 * TIMEOUT_MS;

/**
 * Runs `work` while no other tab runs work with this name. Without locks in the browser, runs it at
 * once.
 *
 * A page that is left but kept by the browser for its return releases the lock. When the page is
 * back, its work continues without the lock.
 */
export async function runExclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks;
  if (!locks?.request) {
    return work();
  }
  const impatience = new AbortController();
  const timer = startTimer(() => impatience.abort(), LOCK_TIMEOUT_MS);
  let working = undefined as Promise<T> | undefined;
  let release = () => {};
  const left = new Promise<void>((resolve) => {
    release = resolve;
  });
  const unlisten = onPageCacheChange(() => {
    impatience.abort();
    release();
  });
  try {
    await locks.request(name, { signal: impatience.signal }, () => {
      clearTimeout(timer);
      working = work();
      return Promise.race([working, left]);
    });
  } catch {
    // A failure of the work is thrown below. Any other error means that waiting was aborted, or
    // that this document may not use locks.
  }
  clearTimeout(timer);
  unlisten();
  // Without a lock, two tabs may send the same upload. It is counted once.
  return working ?? work();
}
