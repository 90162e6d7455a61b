/** Code in a file of its own, for tasks whose reports pass a shuffler. */

import { HANDED, SealingError } from "./errors.js";
import { suppliers, why } from "./module.js";
import type { SumPrivacy } from "./sums/privacy.js";
import type { SumTask } from "./sums/task.js";

/**
 * Loads the code that seals reports and makes those of sums. A later call tries again.
 *
 * @throws SealingError where it cannot be loaded
 * @internal
 */
export async function shuffled(): Promise<typeof import("./shuffled.js")> {
  try {
    const own = await import("./shuffled.js");
    own.hand(HANDED, suppliers.sums);
    return own;
  } catch (cause) {
    throw new SealingError(`what seals could not be loaded: ${why(cause)}`, { cause });
  }
}

/**
 * Tells what a task of sums costs a person, and what hides them: to be shown before they agree.
 *
 * @example
 * ```ts
 * const { messages, bytes, centralEpsilon, delta, statement } = await privacyOf(task);
 * ```
 *
 * @throws SealingError, WasmError where the code of sums cannot be loaded
 */
export async function privacyOf(task: SumTask): Promise<SumPrivacy> {
  return (await shuffled()).privacyOf(task);
}
