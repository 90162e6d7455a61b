/**
 * Code for tasks whose reports pass a shuffler, in a separate file that only these tasks load.
 *
 * The page seals reports to an analyser. The shuffler sees the sender and cannot read the report.
 * The analyser reads the report and cannot see the sender. The code that encrypts, and the code for
 * sums, are in further files.
 */

import { WasmError } from "./errors.js";
import { INJECTED, injectable } from "./injected.js";
import { messageOf } from "./module.js";
import { isSum, type Settings } from "./options.js";
import { sealedOverrides as sealedWayOf } from "./sealed/session.js";
import type { SessionOverrides } from "./session-overrides.js";
import type { TaskSource } from "./task-source.js";

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
    own ??= hand(...INJECTED);
    return own;
  } catch (cause) {
    throw new WasmError(`the core of sums could not be loaded: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Returns the settings of a session whose reports are sealed.
 *
 * @throws OptionError, SealingError
 */
function wayOf(settings: Settings, source: TaskSource): SessionOverrides {
  const { task } = settings;
  const way = sealedWayOf(settings, source);
  return isSum(task) ? { ...way, maker: async () => (await sums()).createMaker(task) } : way;
}

export const hand = injectable({ sums, wayOf });
