/**
 * Error classes for files that are loaded later. The build replaces `errors.ts` by this module in
 * these files. They then throw the classes of the file that loads them, so that `instanceof` holds.
 * Two entries in one page have two sets of classes, so in the build each call of `hand` evaluates
 * the file again.
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

/** Classes as they were given, for files that are loaded later still. */
export let HANDED: [errors: typeof errors.HANDED, sums?: WebAssembly.Module | undefined];

/**
 * Returns a function that gives `parts` once it has the classes. Its parameters are the error
 * classes of the file that loads this one, and the WebAssembly module of sums, for hosts that
 * compile no bytes.
 */
export const handing =
  <T>(parts: T) =>
  (...handed: typeof HANDED): T => {
    HANDED = handed;
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
    ] = handed[0];
    return parts;
  };
