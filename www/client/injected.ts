/**
 * Error classes for files that are loaded later.
 *
 * In these files the build replaces `errors.ts` with this module. They then throw the classes of
 * the file that loads them, so that `instanceof` works. Two entries in one page have two sets of
 * classes. In the build, each call of `inject` therefore evaluates the file again.
 */

import type { LoadTexts } from "./codes.js";
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

/** Arguments that this file has received. It passes them on to files that it loads itself. */
export let INJECTED: [
  errors: typeof errors.INJECTED_ERRORS,
  loadTexts: LoadTexts,
  sums?: WebAssembly.Module | undefined,
];

/**
 * Returns a function that stores its arguments and then returns `parts`. Its arguments come from the
 * page: its error classes, the loader of texts for error codes, and the WebAssembly module for sums,
 * for hosts that may not compile a module from bytes.
 */
export const injectable =
  <T>(parts: T) =>
  (...injected: typeof INJECTED): T => {
    INJECTED = injected;
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
    ] = injected[0];
    return parts;
  };
