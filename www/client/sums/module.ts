/** The core of sums: a module of its own, or what stands in for it; started afresh after a trap. */

import { HushbinError, WasmError } from "../errors.js";
import type { Fallback } from "../fallback.js";
import { compile, isAllowed, type WasmSource, why } from "../module.js";
import init, {
  currentInstance,
  digest,
  __wbg_reset_state as restart,
  SumRandomizer,
} from "../wasm/sums.js";
import { bytes } from "../wasm/sums-bytes.js";

/** What the module of sums can be made from. */
export type SumSource = Exclude<WasmSource, Fallback>;

/**
 * What the core is called by: the module's glue, or that of the core in JavaScript.
 *
 * @internal
 */
export let core = { SumRandomizer, digest, currentInstance, restart };

let source: () => SumSource | Promise<SumSource> = bytes;
let loading: Promise<void> | undefined;
let broken = false;

async function start(): Promise<void> {
  try {
    await init({ module_or_path: await compile(await source()) });
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
 * @internal
 */
export function loadSums(): Promise<void> {
  loading ??= start().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * Loads the module from `hushbin/sums.wasm` in place of the one in this entry: for where no
 * bytes may be compiled at run time, as in workerd. Once a module is loaded, further calls do
 * nothing.
 *
 * @example
 * ```ts
 * import { initialize } from "hushbin/sums";
 * import module from "hushbin/sums.wasm";
 *
 * await initialize(module);
 * ```
 *
 * @param from a URL, a response, the bytes, or a compiled module
 * @throws WasmError when it cannot be loaded; call again to try again
 */
export async function initialize(from: SumSource | Promise<SumSource>): Promise<void> {
  if (loading === undefined) {
    source = () => from;
  }
  await loadSums();
}

/**
 * Runs `call`, which calls into the module, as `guarded` of `hushbin`'s module does.
 *
 * @throws number, HushbinError
 * @throws WasmError
 * @internal
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
