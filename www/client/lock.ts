/** One tab at a time. */

import { onKept } from "./page.js";
import { later, TIMEOUT_MS } from "./time.js";

/**
 * How long another tab is waited for. One that hangs, or was frozen with the lock, must
 * not keep all others silent; an upload that two tabs send is counted once.
 */
const PATIENCE_MS = 2 * TIMEOUT_MS;

/**
 * Runs `work` while no other tab does work of this name, where the browser has locks. A page
 * that is left and kept for its return gives its turn up, and goes on without once it is back.
 */
export async function alone<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks;
  if (!locks?.request) {
    return work();
  }
  const impatience = new AbortController();
  const timer = later(() => impatience.abort(), PATIENCE_MS);
  let working = undefined as Promise<T> | undefined;
  let release = () => {};
  const left = new Promise<void>((resolve) => {
    release = resolve;
  });
  const unlisten = onKept(
    () => {
      impatience.abort();
      release();
    },
    () => {},
  );
  try {
    await locks.request(name, { signal: impatience.signal }, () => {
      clearTimeout(timer);
      working = work();
      return Promise.race([working, left]);
    });
  } catch {
    // Told below where it is the work's failure. Otherwise impatient, or in a document that may
    // not have locks.
  }
  clearTimeout(timer);
  unlisten();
  return working ?? work();
}
