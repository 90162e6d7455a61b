/** Loader of the code that makes and sends reports. */

import { errorMessage } from "./causes.js";
import { coreState } from "./core-sources.js";
import { deepCopy } from "./entries.js";
import { INJECTED_ERRORS, WasmError } from "./errors.js";
import { taskOfLabel } from "./labels.js";
import { loadExtras } from "./loaders.js";
import { PAGE_PARTS } from "./page-parts.js";
import type { Randomizer, RandomizerOf, RandomizerOptions } from "./randomizer.js";
import type { SumRandomizer } from "./sums/randomizer.js";
import type { SumTask } from "./sums/task.js";
import type { Task } from "./task.js";

type Engine = ReturnType<typeof import("./engine.js").inject>;

let loadedEngine: Engine | undefined;

/**
 * Loads the code that makes and sends reports. A later call tries again after a failure.
 *
 * @throws WasmError if it cannot be loaded
 * @internal
 */
export async function loadEngine(): Promise<Engine> {
  try {
    const given = coreState.sources.engine as typeof import("./engine.js") | undefined;
    const { inject } = given ?? (await import("./engine.js"));
    // Called once, because each call evaluates the file again.
    loadedEngine ??= inject(PAGE_PARTS, INJECTED_ERRORS, loadExtras, coreState.sources.sumsModule);
    return loadedEngine;
  } catch (cause) {
    throw new WasmError(`engine.js could not be loaded: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Creates a randomiser for a complete task, which may be a sum task.
 *
 * @example
 * ```ts
 * const randomizer = await createRandomizer({ task });
 * const report = randomizer.randomize({ "dark-mode": 1 });
 * ```
 *
 * @throws TaskError `invalid-task`
 * @throws OptionError if the label is not one of the task's
 * @throws EntropyError, SealingError, WasmError
 */
export async function createRandomizer<const T extends Task | SumTask>(
  options: RandomizerOptions<T>,
): Promise<RandomizerOf<T>>;
export async function createRandomizer(
  options: RandomizerOptions<Task | SumTask>,
): Promise<Randomizer | SumRandomizer> {
  const { task, label } = Object(options);
  // The caller may change its own task afterwards.
  const own = taskOfLabel(deepCopy(Object(task)), label);
  return (await loadEngine()).createRandomizer(own);
}
