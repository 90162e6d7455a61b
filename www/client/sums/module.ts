/**
 * Loader of the core for sum tasks. It loads a separate WebAssembly module, or else the core in
 * JavaScript, and restarts it after a trap.
 */

import { errorMessage } from "../causes.js";
import { HushbinError, WasmError } from "../errors.js";
import { INJECTED_ARGUMENTS } from "../injected.js";
import { isWasmAllowed } from "../module.js";
import init, {
  currentInstanceId,
  digest,
  __wbg_reset_state as restart,
  SumRandomizer,
} from "../wasm/sums.js";
import { moduleBytes } from "../wasm/sums-bytes.js";

/**
 * Functions of the core for sum tasks, in the implementation that is in use: the WebAssembly module
 * or the core in JavaScript.
 */
export let sumsFunctions = { SumRandomizer, digest, currentInstanceId, restart };

let loadPromise: Promise<void> | undefined;
let hasTrapped = false;

async function startSumsCore(module: WebAssembly.Module | undefined): Promise<void> {
  try {
    await init({ module_or_path: module ?? (await WebAssembly.compile(moduleBytes())) });
  } catch (cause) {
    if (isWasmAllowed()) {
      throw new WasmError(`WebAssembly could not be loaded: ${errorMessage(cause)}`, { cause });
    }
    try {
      const { core: fallback } = await import("../sums-fallback.js");
      fallback.restart();
      sumsFunctions = fallback;
    } catch (cause) {
      throw new WasmError(
        `WebAssembly is missing or forbidden, and its stand-in could not be loaded: ${errorMessage(cause)}`,
        { cause },
      );
    }
  }
}

/**
 * Loads the core for sum tasks. Resolves when it is ready. A later call tries again after a
 * failure.
 *
 * @throws WasmError
 */
export function loadSumsCore(): Promise<void> {
  loadPromise ??= startSumsCore(INJECTED_ARGUMENTS[2]).catch((error: unknown) => {
    loadPromise = undefined;
    throw error;
  });
  return loadPromise;
}

/**
 * Runs `call`, a function that calls the core for sum tasks. It works like `callCore` of the main
 * module.
 *
 * @throws number, HushbinError
 * @throws WasmError
 */
export function callSumsCore<T>(call: () => T): T {
  try {
    if (hasTrapped) {
      sumsFunctions.restart();
      hasTrapped = false;
    }
    return call();
  } catch (cause) {
    if (typeof cause === "number" || cause instanceof HushbinError) {
      throw cause;
    }
    hasTrapped = true;
    throw new WasmError("the WebAssembly module failed; the next call restarts it", { cause });
  }
}
