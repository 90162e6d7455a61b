/**
 * What tasks need whose reports pass a shuffler, in a file of its own that is loaded for them.
 *
 * Reports are sealed in the page to an analyser: whoever collects them, a shuffler, sees who sends
 * and cannot read what; the analyser reads what and cannot know who sent it. What seals, and what
 * makes the messages of sums, are files of their own again.
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
 * The way of a client whose reports are sealed.
 *
 * @throws OptionError, SealingError
 */
export function wayOf(settings: Settings, source: TaskSource): Way {
  const { task } = settings;
  const way = sealedWayOf(settings, source);
  return isSum(task) ? { ...way, maker: () => createMaker(task) } : way;
}
