/**
 * The WebAssembly module: loading it once, putting the complete one in its place, and starting it afresh after a trap.
 */

import { HushbinError, WasmError } from "./errors.js";
import init, { __wbg_reset_state as restart } from "./wasm/hushbin.js";

/** What the module can be made from. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module;

type Supplier = () => WasmSource | Promise<WasmSource>;

let supplier: Supplier = () => {
  throw new Error("call initialize() first, or import hushbin");
};
/** Of the complete module. */
let completeSupplier: Supplier = () => {
  throw new Error("the module lacks what the task asks for; hushbin.wasm has all");
};
let loading: Promise<void> | undefined;
let completing: Promise<void> | undefined;
let broken = false;

/**
 * Says where the module comes from, unless it is there already, and where the complete
 * one does, for tasks whose mechanism or kind of question the first lacks. Nothing is
 * loaded until it is needed.
 */
export function supplyModule(source: Supplier, complete = completeSupplier): void {
  if (loading === undefined) {
    supplier = source;
    completeSupplier = complete;
  }
}

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) {
    return source;
  }
  if (typeof source === "string" || source instanceof URL) {
    return compile(await fetch(source));
  }
  if (source instanceof Response) {
    if (!source.ok) {
      throw new Error(`${source.url} answered ${source.status}`);
    }
    // Streaming compilation insists on the MIME type, which many servers do
    // not know.
    const type = source.headers.get("content-type")?.split(";")[0]?.trim();
    return type === "application/wasm" && "compileStreaming" in WebAssembly
      ? WebAssembly.compileStreaming(source)
      : WebAssembly.compile(await source.arrayBuffer());
  }
  return WebAssembly.compile(source);
}

async function start(supply: Supplier): Promise<void> {
  try {
    if (typeof WebAssembly === "undefined") {
      throw new Error("this browser has no WebAssembly");
    }
    await init({ module_or_path: await compile(await supply()) });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new WasmError(`WebAssembly could not be loaded: ${why}`, { cause });
  }
}

/**
 * Resolves when the module is ready; tries again where it failed before.
 *
 * @throws WasmError
 */
export function loadModule(): Promise<void> {
  loading ??= start(supplier).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * Puts the complete module in the place of the one that {@link loadModule}
 * has loaded; tries again where it failed before.
 *
 * @throws WasmError
 */
export function completeModule(): Promise<void> {
  completing ??= start(completeSupplier).catch((error: unknown) => {
    completing = undefined;
    throw error;
  });
  return completing;
}

/**
 * Runs `call`, which calls into the module. Thrown numbers, which are error
 * codes of the core, and our own errors pass through; anything else means that
 * the module trapped and its memory cannot be relied on, so that it is started
 * afresh for the next call.
 *
 * @throws number, HushbinError
 * @throws WasmError
 */
export function guarded<T>(call: () => T): T {
  try {
    if (broken) {
      restart();
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
