/** Parts of the page's code that the file `engine` uses as well. */

import { coreState } from "./core-sources.js";
import { OutboxFullError, StorageError, UploadRejectedError, ValueRangeError } from "./errors.js";
import { loadExtras, loadLeavingCode, loadShuffledCode, loadSums } from "./loaders.js";
import { EMPTY_STORE } from "./open-store.js";

/** @internal */
export const PAGE_PARTS = [
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
] as const;
