/**
 * Code for tasks whose reports pass a shuffler, in a file that is loaded for them alone.
 *
 * The page seals reports to an analyser. The shuffler sees the sender and cannot read the report;
 * the analyser reads the report and cannot see the sender. Ciphers and sums are further files.
 */

import { WasmError } from "./errors.js";
import { HANDED } from "./handed.js";
import { why } from "./module.js";
import { isSum, type Settings } from "./options.js";
import { wayOf as sealedWayOf } from "./sealed/way.js";
import type { SumPrivacy } from "./sums/privacy.js";
import type { SumMaker } from "./sums/randomizer.js";
import type { SumTask } from "./sums/task.js";
import type { TaskSource } from "./task-source.js";
import type { Way } from "./way.js";

export { hand } from "./handed.js";

/** @throws WasmError where the code of sums cannot be loaded */
async function sums(): Promise<typeof import("./sums.js")> {
  try {
    const own = await import("./sums.js");
    own.hand(...HANDED);
    return own;
  } catch (cause) {
    throw new WasmError(`the core of sums could not be loaded: ${why(cause)}`, { cause });
  }
}

/**
 * Makes the maker of the messages of a task of sums.
 *
 * @throws TaskError `invalid-task`
 * @throws EntropyError, WasmError
 */
export async function createMaker(task: unknown): Promise<SumMaker> {
  return (await sums()).createMaker(task);
}

/** @throws WasmError */
export async function privacyOf(task: SumTask): Promise<SumPrivacy> {
  return (await sums()).privacyOf(task);
}

/**
 * Returns the way of a client whose reports are sealed.
 *
 * @throws OptionError, SealingError
 */
export function wayOf(settings: Settings, source: TaskSource): Way {
  const { task } = settings;
  const way = sealedWayOf(settings, source);
  return isSum(task) ? { ...way, maker: () => createMaker(task) } : way;
}
