/**
 * Parts of the page's code, for the file `engine`. In this file, the build replaces the modules of
 * these parts by this one, so that both files share state and classes.
 */

import type * as sources from "./core-sources.js";
import type * as errors from "./errors.js";
import { createInjector, type INJECTED_ARGUMENTS } from "./injected.js";
import type * as loaders from "./loaders.js";
import type * as stores from "./open-store.js";
import type { PAGE_PARTS } from "./page-parts.js";

export * from "./injected.js";

export let coreState: typeof sources.coreState;
export let OutboxFullError: typeof errors.OutboxFullError;
export let StorageError: typeof errors.StorageError;
export let UploadRejectedError: typeof errors.UploadRejectedError;
export let ValueRangeError: typeof errors.ValueRangeError;
export let loadExtras: typeof loaders.loadExtras;
export let loadLeavingCode: typeof loaders.loadLeavingCode;
export let loadShuffledCode: typeof loaders.loadShuffledCode;
export let loadSums: typeof loaders.loadSums;
export let EMPTY_STORE: typeof stores.EMPTY_STORE;

/** Returns a function that stores the page's parts and other arguments, and returns `parts`. */
export const createPageInjector =
  <T>(parts: T) =>
  (page: typeof PAGE_PARTS, ...injected: typeof INJECTED_ARGUMENTS): T => {
    [
      coreState,
      OutboxFullError,
      StorageError,
      UploadRejectedError,
      ValueRangeError,
      loadExtras,
      loadLeavingCode,
      loadShuffledCode,
      loadSums,
      EMPTY_STORE,
    ] = page;
    return createInjector(parts)(...injected);
  };
