/**
 * Error classes of the page, for files that are loaded later.
 *
 * In these files, the build replaces `errors.ts` by this module. They then throw the error classes
 * of the file that loads them, so that `instanceof` works. Two entries in one page have two sets of
 * classes. Each call of `inject` in the built file therefore evaluates the file again.
 */

import type { ErrorTextsLoader } from "./codes.js";
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

/**
 * Arguments that the page has passed to this file. The file passes them on to files that it loads
 * itself.
 */
export let INJECTED_ARGUMENTS: [
  errors: typeof errors.INJECTED_ERRORS,
  loadTexts: ErrorTextsLoader,
  sums?: WebAssembly.Module | undefined,
];

/**
 * Returns a function that stores its arguments and returns `parts`. Its arguments are the page's
 * error classes, a loader of texts for error codes, and the WebAssembly module for sum tasks. The
 * module is given only on hosts that must not compile one from bytes.
 */
export const createInjector =
  <T>(parts: T) =>
  (...injected: typeof INJECTED_ARGUMENTS): T => {
    INJECTED_ARGUMENTS = injected;
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
