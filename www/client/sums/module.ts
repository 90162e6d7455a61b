/** The core of sums: a module of its own, or what stands in for it; started afresh after a trap. */

import { HushbinError, WasmError } from "../errors.js";
import { HANDED } from "../handed.js";
import { compile, isAllowed, why } from "../module.js";
import init, {
  currentInstance,
  digest,
  __wbg_reset_state as restart,
  SumRandomizer,
} from "../wasm/sums.js";
import { bytes } from "../wasm/sums-bytes.js";

/** What the core is called by: the module's glue, or that of the core in JavaScript. */
export let core = { SumRandomizer, digest, currentInstance, restart };

let loading: Promise<void> | undefined;
let broken = false;

async function start(source: BufferSource | WebAssembly.Module): Promise<void> {
  try {
    await init({ module_or_path: await compile(source) });
  } catch (cause) {
    if (isAllowed()) {
      throw new WasmError(`WebAssembly could not be loaded: ${why(cause)}`, { cause });
    }
    try {
      const { core: fallback } = await import("../sums-fallback.js");
      fallback.restart();
      core = fallback;
    } catch (cause) {
      throw new WasmError(
        `WebAssembly is missing or forbidden, and its stand-in could not be loaded: ${why(cause)}`,
        { cause },
      );
    }
  }
}

/**
 * Resolves when the core is ready; tries again where it failed before.
 *
 * @throws WasmError
 */
export function loadSums(): Promise<void> {
  loading ??= start(HANDED[1] ?? bytes()).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * Runs `call`, which calls into the module, as `guarded` of `hushbin`'s module does.
 *
 * @throws number, HushbinError
 * @throws WasmError
 */
export function guardedSums<T>(call: () => T): T {
  try {
    if (broken) {
      core.restart();
      broken = false;
    }
    return call();
  } catch (cause) {
    if (typeof cause === "number" || cause instanceof HushbinError) {
      throw cause;
    }
    broken = true;
    throw new WasmError(
      "the WebAssembly module failed and was stopped; the next call starts it afresh",
      { cause },
    );
  }
}
