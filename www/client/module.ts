/**
 * The core: loading its WebAssembly module once, or what stands in for it; putting the
 * complete module in its place, and starting it afresh after a trap.
 */

import { bindings, fallBack, isFallback } from "./bindings.js";
import { HushbinError, WasmError } from "./errors.js";
import type { Fallback } from "./fallback.js";
import init from "./wasm/hushbin.js";

/** What the module can be made from, or what stands in for it. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module | Fallback;

type Supplier = () => WasmSource | Promise<WasmSource>;

/** Where to find the core. */
export interface Suppliers {
  readonly module: Supplier;
  /** The complete module, for tasks whose mechanism or kind of question the first lacks. */
  readonly complete?: Supplier | undefined;
  /** The complete core in JavaScript. */
  readonly fallback?: (() => Promise<Fallback>) | undefined;
  /** The module of sums, where the one in their code may not be compiled. */
  readonly sums?: WebAssembly.Module | undefined;
}

function missing(what: string): never {
  throw new Error(what);
}

/** @internal */
export let suppliers: Suppliers = {
  module: () => missing("call initialize() first, or import hushbin"),
};
let loading: Promise<void> | undefined;
let completing: Promise<void> | undefined;
let broken = false;

/**
 * Says where the core comes from, unless it is there already. Nothing is loaded until it
 * is needed.
 */
export function supply(from: Suppliers): void {
  if (loading === undefined) {
    suppliers = from;
  }
}

/** `make`, once it is said where the core comes from. */
export function supplied<Make extends (options: never) => unknown>(
  from: Suppliers,
  make: Make,
): Make {
  const supplying = (options: never) => {
    supply(from);
    return make(options);
  };
  return supplying as Make;
}

/** @internal */
export async function compile(source: Exclude<WasmSource, Fallback>): Promise<WebAssembly.Module> {
  // First, since Jest's jsdom has no Response to compare with; and of whatever window.
  if (typeof source === "object" && "byteLength" in source) {
    return WebAssembly.compile(source);
  }
  if (source instanceof WebAssembly.Module) {
    return source;
  }
  if (typeof source === "string" || source instanceof URL) {
    return compile(await fetch(source));
  }
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

/**
 * Whether WebAssembly is there and allowed: what the smallest module tells.
 *
 * @internal
 */
export function isAllowed(): boolean {
  try {
    // "\0asm", and the version.
    return new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)) !== undefined;
  } catch {
    return false;
  }
}

async function begin(source: WasmSource): Promise<void> {
  if (typeof source === "object" && isFallback(source)) {
    fallBack(source);
  } else {
    await init({ module_or_path: await compile(source) });
  }
}

/** @internal */
export const why = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));

async function start(supplier: Supplier): Promise<void> {
  const { fallback } = suppliers;
  try {
    await begin(await supplier());
  } catch (cause) {
    if (isAllowed()) {
      throw new WasmError(`WebAssembly could not be loaded: ${why(cause)}`, { cause });
    }
    try {
      await begin(await (fallback?.() ?? missing("there is none")));
    } catch (cause) {
      throw new WasmError(
        "WebAssembly is missing, or forbidden by a Content-Security-Policy without " +
          `'wasm-unsafe-eval', and its stand-in could not be loaded: ${why(cause)}`,
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
export function loadModule(): Promise<void> {
  loading ??= start(suppliers.module).catch((error: unknown) => {
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
  const complete =
    suppliers.complete ??
    (() => missing("the module lacks what the task asks for; hushbin.wasm has all"));
  completing ??= start(complete).catch((error: unknown) => {
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
      bindings.restart();
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
