/**
 * Loader of the core. It loads the WebAssembly module once, or else the core in JavaScript. It
 * replaces the module by the complete one when a task needs that, and restarts the module after a
 * trap.
 */

import { bindings, isFallbackSource, switchToFallback } from "./bindings.js";
import { errorMessage, throwMissing } from "./causes.js";
import { type CoreSources, coreState, type WasmSource } from "./core-sources.js";
import { HushbinError, WasmError } from "./errors.js";
import type { Fallback } from "./fallback.js";
import init from "./wasm/hushbin.js";

let loadPromise: Promise<void> | undefined;
let completeLoadPromise: Promise<void> | undefined;
let hasTrapped = false;

async function compileModule(source: Exclude<WasmSource, Fallback>): Promise<WebAssembly.Module> {
  // Checked first, because Jest's jsdom has no Response to compare with. `in` also recognises bytes
  // of other windows.
  if (typeof source === "object" && "byteLength" in source) {
    return WebAssembly.compile(source);
  }
  if (source instanceof WebAssembly.Module) {
    return source;
  }
  if (typeof source === "string" || source instanceof URL) {
    return compileModule(await fetch(source));
  }
  if (!source.ok) {
    throw new Error(`${source.url} answered ${source.status}`);
  }
  // Streaming compilation requires the MIME type, which many servers do not set.
  const type = source.headers.get("content-type")?.split(";")[0]?.trim();
  return type === "application/wasm" && "compileStreaming" in WebAssembly
    ? WebAssembly.compileStreaming(source)
    : WebAssembly.compile(await source.arrayBuffer());
}

/**
 * Returns whether WebAssembly exists and is allowed, by compiling the smallest possible module.
 *
 * @internal
 */
export function isWasmAllowed(): boolean {
  try {
    // "\0asm" and version 1.
    return new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)) !== undefined;
  } catch {
    return false;
  }
}

async function startFromSource(source: WasmSource): Promise<void> {
  if (typeof source === "object" && isFallbackSource(source)) {
    switchToFallback(source);
  } else {
    await init({ module_or_path: await compileModule(source) });
  }
}

async function startOrFallBack(supplier: CoreSources["firstModule"]): Promise<void> {
  const { fallback } = coreState.sources;
  try {
    await startFromSource(await supplier(isWasmAllowed));
  } catch (cause) {
    // The core in JavaScript is for hosts without WebAssembly. It must not hide a module that is
    // missing on the server.
    if (isWasmAllowed()) {
      throw new WasmError(`WebAssembly could not be loaded: ${errorMessage(cause)}`, { cause });
    }
    try {
      await startFromSource(await (fallback?.() ?? throwMissing("there is none")));
    } catch (cause) {
      throw new WasmError(
        "WebAssembly is missing, or forbidden by a Content-Security-Policy without " +
          `'wasm-unsafe-eval', and its stand-in could not be loaded: ${errorMessage(cause)}`,
        { cause },
      );
    }
  }
}

/**
 * Loads the core. Resolves when it is ready. A later call tries again after a failure.
 *
 * @throws WasmError
 */
export function loadModule(): Promise<void> {
  coreState.isLoading = true;
  loadPromise ??= startOrFallBack(coreState.sources.firstModule).catch((error: unknown) => {
    loadPromise = undefined;
    coreState.isLoading = false;
    throw error;
  });
  return loadPromise;
}

/**
 * Loads the complete module in place of the one that {@link loadModule} has loaded. A later call
 * tries again after a failure.
 *
 * @throws WasmError
 */
export function loadCompleteModule(): Promise<void> {
  const complete =
    coreState.sources.completeModule ??
    (() => throwMissing("the task needs the complete module, hushbin.wasm"));
  completeLoadPromise ??= startOrFallBack(complete).catch((error: unknown) => {
    completeLoadPromise = undefined;
    throw error;
  });
  return completeLoadPromise;
}

/**
 * Runs `call`, a function that calls the module. Error codes of the core, which are thrown as
 * numbers, and errors of this package pass through.
 *
 * Any other exception means that the module trapped. Its memory can no longer be trusted, so the
 * next call restarts the module.
 *
 * @throws number, HushbinError
 * @throws WasmError
 */
export function callCore<T>(call: () => T): T {
  try {
    // Restart before the next call. Handles of the old instance are invalid after that.
    if (hasTrapped) {
      bindings.restart();
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
