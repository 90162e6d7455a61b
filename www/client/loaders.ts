/** Loaders of code that only some tasks or pages need. */

import { errorMessage } from "./causes.js";
import { coreState } from "./core-sources.js";
import { deepCopy } from "./entries.js";
import { INJECTED_ERRORS, SealingError, WasmError } from "./errors.js";
import type { SumPrivacy } from "./sums/privacy.js";
import type { SumTask } from "./sums/task.js";

type Extras = ReturnType<typeof import("./extras.js").inject>;

let loadedExtras: Extras | undefined;

/**
 * Loads the code that few pages need. A later call tries again after a failure.
 *
 * @throws WasmError if it cannot be loaded
 * @internal
 */
export async function loadExtras(): Promise<Extras> {
  try {
    const { inject } = await import("./extras.js");
    // Called once, because each call evaluates the file again.
    loadedExtras ??= inject(INJECTED_ERRORS, loadExtras);
    return loadedExtras;
  } catch (cause) {
    throw new WasmError(`extras.js could not be loaded: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Loads the code that reports when a page is left.
 *
 * @throws WasmError if it cannot be loaded
 * @internal
 */
export async function loadLeavingCode(): Promise<typeof import("./leaving.js")> {
  try {
    return await import("./leaving.js");
  } catch (cause) {
    throw new WasmError(`leaving.js could not be loaded: ${errorMessage(cause)}`, { cause });
  }
}

type ShuffledCode = ReturnType<typeof import("./shuffled.js").inject>;

let loadedShuffledCode: ShuffledCode | undefined;

/**
 * Loads the code that seals reports and makes the reports of sum tasks. A later call tries again
 * after a failure.
 *
 * @throws SealingError if it cannot be loaded
 * @internal
 */
export async function loadShuffledCode(): Promise<ShuffledCode> {
  try {
    const { inject } = await import("./shuffled.js");
    // Called once, because each call evaluates the file again.
    loadedShuffledCode ??= inject(INJECTED_ERRORS, loadExtras, coreState.sources.sumsModule);
    return loadedShuffledCode;
  } catch (cause) {
    throw new SealingError(`what seals could not be loaded: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Loads the code for sum tasks.
 *
 * @throws SealingError, WasmError if it cannot be loaded
 * @internal
 */
export const loadSums = async () => (await loadShuffledCode()).sums();

/**
 * Returns the cost and the protection of one report to a sum task. Show both to people before they
 * agree.
 *
 * @example
 * ```ts
 * const { messages, bytes, centralEpsilon, delta, statement } = await privacyOf(task);
 * ```
 *
 * @throws SealingError, WasmError if the code of sums cannot be loaded
 */
export async function privacyOf(task: SumTask): Promise<SumPrivacy> {
  const own = deepCopy(task);
  return (await loadSums()).privacyOf(own);
}
