/**
 * Error classes for files that are loaded later. The build replaces `errors.ts` by this module in
 * these files. They then throw the classes of the file that loads them, so that `instanceof` holds.
 */

import type * as errors from "./errors.js";

export let AnswerError: typeof errors.AnswerError;
export let ClosedError: typeof errors.ClosedError;
export let EntropyError: typeof errors.EntropyError;
export let HushbinError: typeof errors.HushbinError;
export let NetworkError: typeof errors.NetworkError;
export let OptionError: typeof errors.OptionError;
export let SealingError: typeof errors.SealingError;
export let TaskError: typeof errors.TaskError;
export let UnknownItemError: typeof errors.UnknownItemError;
export let WasmError: typeof errors.WasmError;

/** Arguments of {@link hand}, for files that are loaded later still. */
export let HANDED: [errors: typeof errors.HANDED, sums?: WebAssembly.Module | undefined];

/**
 * Sets the classes.
 *
 * @param own error classes of the file that loads this one
 * @param sums WebAssembly module of sums, for hosts that compile no bytes
 */
export function hand(...[own, sums]: typeof HANDED): void {
  HANDED = [own, sums];
  [
    AnswerError,
    ClosedError,
    EntropyError,
    HushbinError,
    NetworkError,
    OptionError,
    SealingError,
    TaskError,
    UnknownItemError,
    WasmError,
  ] = own;
}
