/**
 * Error classes in files that are loaded later. The build puts this module in the place of
 * `errors.ts` there, so that `instanceof` holds: a file by itself would have classes of its own.
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

/** What was handed over, to be handed on. */
export let HANDED: [errors: typeof errors.HANDED, sums?: WebAssembly.Module | undefined];

/**
 * Takes what is of the file that loads this one.
 *
 * @param own its error classes
 * @param sums the module of sums, where the one in their code may not be compiled
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
