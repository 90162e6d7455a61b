/**
 * Code for tasks whose reports go through a shuffler, in a separate file that only these tasks
 * load.
 *
 * The page seals reports to an analyser. The shuffler sees the sender but cannot read the report.
 * The analyser reads the report but cannot see the sender. The code that encrypts and the code for
 * sum tasks are in further files.
 */

import { errorMessage } from "./causes.js";
import { WasmError } from "./errors.js";
import { createInjector, INJECTED_ARGUMENTS } from "./injected.js";
import { type ClientSettings, isSumTask } from "./options.js";
import { sealedSessionOverrides } from "./sealed/session.js";
import type { SessionOverrides } from "./session-overrides.js";
import type { SessionRequests } from "./session-requests.js";

type SumsCode = ReturnType<typeof import("./sums.js").inject>;

let loadedSumsCode: SumsCode | undefined;

/**
 * Loads the code for sum tasks. A later call tries again after a failure.
 *
 * @throws WasmError if it cannot be loaded
 */
async function loadSumsCode(): Promise<SumsCode> {
  try {
    const { inject } = await import("./sums.js");
    // Called once, because each call evaluates the file again.
    loadedSumsCode ??= inject(...INJECTED_ARGUMENTS);
    return loadedSumsCode;
  } catch (cause) {
    throw new WasmError(`the core of sums could not be loaded: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Returns the settings of a session whose reports are sealed.
 *
 * @throws OptionError, SealingError
 */
function sessionOverrides(settings: ClientSettings, requests: SessionRequests): SessionOverrides {
  const { task } = settings;
  const sealed = sealedSessionOverrides(settings, requests);
  return isSumTask(task)
    ? { ...sealed, createMaker: async () => (await loadSumsCode()).createMaker(task) }
    : sealed;
}

export const inject = createInjector({ sums: loadSumsCode, overrides: sessionOverrides });
