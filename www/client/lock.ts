/** One tab at a time. */

import { later, TIMEOUT_MS } from "./time.js";

/**
 * How long another tab is waited for. One that hangs, or was frozen with the lock, must
 * not keep all others silent; an upload that two tabs send is counted once.
 */
const PATIENCE_MS = 2 * TIMEOUT_MS;

/** Runs `work` while no other tab does work of this name, where the browser has locks. */
export async function alone<T>(name: string, work: () => Promise<T>): Promise<T> {
  const locks = globalThis.navigator?.locks;
  if (!locks?.request) {
    return work();
  }
  const impatience = new AbortController();
  const timer = later(() => impatience.abort(), PATIENCE_MS);
  let began = false;
  try {
    return await locks.request(name, { signal: impatience.signal }, () => {
      began = true;
      clearTimeout(timer);
      return work();
    });
  } catch (cause) {
    if (began) {
      throw cause;
    }
    // Impatient, or in a document that may not have locks.
    return work();
  } finally {
    clearTimeout(timer);
  }
}
