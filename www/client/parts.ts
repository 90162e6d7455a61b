/** Loader of the code for tasks whose reports pass a shuffler. */

import { copied } from "./entries.js";
import { HANDED, SealingError } from "./errors.js";
import { suppliers, why } from "./module.js";
import type { SumPrivacy } from "./sums/privacy.js";
import type { SumTask } from "./sums/task.js";

type Shuffled = ReturnType<typeof import("./shuffled.js").hand>;

let own: Shuffled | undefined;

/**
 * Loads the code that seals reports and makes reports of sums. A later call tries again after a
 * failure.
 *
 * @throws SealingError if it cannot be loaded
 * @internal
 */
export async function shuffled(): Promise<Shuffled> {
  try {
    const { hand } = await import("./shuffled.js");
    // Called once, because each call evaluates the file again.
    own ??= hand(HANDED, suppliers.sums);
    return own;
  } catch (cause) {
    throw new SealingError(`what seals could not be loaded: ${why(cause)}`, { cause });
  }
}

/**
 * Loads the code for tasks of sums.
 *
 * @throws SealingError, WasmError if it cannot be loaded
 * @internal
 */
export const sums = async () => (await shuffled()).sums();

/**
 * Returns the cost and the protection of one report to a task of sums. Show both before the person
 * agrees.
 *
 * @example
 * ```ts
 * const { messages, bytes, centralEpsilon, delta, statement } = await privacyOf(task);
 * ```
 *
 * @throws SealingError, WasmError if the code of sums cannot be loaded
 */
export async function privacyOf(task: SumTask): Promise<SumPrivacy> {
  const own = copied(task);
  return (await sums()).privacyOf(own);
}
