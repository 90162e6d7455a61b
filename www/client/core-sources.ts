/** Sources of the core, which an entry of the package or the page sets before the core is loaded. */

import { throwMissing } from "./causes.js";
import type { Fallback } from "./fallback.js";

/** Source from which the WebAssembly module can be loaded, or the core in JavaScript itself. */
export type WasmSource = string | URL | Response | BufferSource | WebAssembly.Module | Fallback;

/**
 * Returns a source. May throw instead of loading one, if WebAssembly is missing or forbidden and the
 * source needs it.
 */
type WasmSourceSupplier = (isWasmAllowed: () => boolean) => WasmSource | Promise<WasmSource>;

/** Sources from which the core can be loaded. */
export interface CoreSources {
  readonly firstModule: WasmSourceSupplier;
  /**
   * Source of the complete module. Tasks need it if the first module lacks the mechanism or kind
   * of question.
   */
  readonly completeModule?: WasmSourceSupplier | undefined;
  /** Core in JavaScript, for hosts without WebAssembly. */
  readonly fallback?: (() => Promise<Fallback>) | undefined;
  /**
   * Compiled WebAssembly module for sum tasks, for hosts that must not compile a module from bytes.
   */
  readonly sumsModule?: WebAssembly.Module | undefined;
  /**
   * File `engine`, for hosts that import nothing later, such as service workers.
   *
   * @internal
   */
  readonly engine?: unknown;
}

/** Sources in use, and whether loading from them has begun. */
export const coreState: { sources: CoreSources; isLoading: boolean } = {
  sources: { firstModule: () => throwMissing("call initialize() first, or import hushbin") },
  isLoading: false,
};

/** Sets the sources of the core, unless loading has already begun. Does not load anything. */
export function setCoreSources(from: CoreSources): void {
  if (!coreState.isLoading) {
    coreState.sources = from;
  }
}

/** Returns a function that sets the sources of the core and then calls `make`. */
export function bindCoreSources<Make extends (options: never) => unknown>(
  from: CoreSources,
  make: Make,
): Make {
  const supplying = (options: never) => {
    setCoreSources(from);
    return make(options);
  };
  return supplying as Make;
}
