/**
 * Code for tasks whose reports pass a shuffler, in a separate file that only these tasks load.
 *
 * The page seals reports to an analyser. The shuffler sees the sender and cannot read the report.
 * The analyser reads the report and cannot see the sender. The code that encrypts, and the code for
 * sums, are in further files.
 */

import { WasmError } from "./errors.js";
import { HANDED, handing } from "./handed.js";
import { why } from "./module.js";
import { isSum, type Settings } from "./options.js";
import { wayOf as sealedWayOf } from "./sealed/way.js";
import type { TaskSource } from "./task-source.js";
import type { Way } from "./way.js";

type Sums = ReturnType<typeof import("./sums.js").hand>;

let own: Sums | undefined;

/**
 * Loads the code for tasks of sums. A later call tries again after a failure.
 *
 * @throws WasmError if it cannot be loaded
 */
async function sums(): Promise<Sums> {
  try {
    const { hand } = await import("./sums.js");
    // Called once, because each call evaluates the file again.
    own ??= hand(...HANDED);
    return own;
  } catch (cause) {
    throw new WasmError(`the core of sums could not be loaded: ${why(cause)}`, { cause });
  }
}

/**
 * Returns the settings of a session whose reports are sealed.
 *
 * @throws OptionError, SealingError
 */
function wayOf(settings: Settings, source: TaskSource): Way {
  const { task } = settings;
  const way = sealedWayOf(settings, source);
  return isSum(task) ? { ...way, maker: async () => (await sums()).createMaker(task) } : way;
}

export const hand = handing({ sums, wayOf });
