/**
 * Error classes of this package, each with a stable code.
 *
 * Distinguish errors by `code` (or `instanceof`). Messages are meant for people and may change.
 */

/** Stable names of all kinds of errors. */
export type ErrorCode =
  | "unknown-item"
  | "value-range"
  | "answer"
  | "no-entropy"
  | "wasm"
  | "network"
  | "upload-rejected"
  | "invalid-task"
  | "unknown-task"
  | "fingerprint-mismatch"
  | "over-max-epsilon"
  | "loose-budget"
  | "loose-level"
  | "outbox-full"
  | "storage"
  | "sealing"
  | "option"
  | "closed";

// Fields set by constructors are only declared, which makes the compiled code smaller.

/** Base class of all errors of this package. */
abstract class BaseError extends Error {
  /** Stable name of this kind of error. */
  abstract readonly code: ErrorCode;

  /** @internal */
  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    // Minifiers change `new.target.name`.
    this.name = name;
  }
}

/** Returns a value as text for a message. Objects are not converted, because that can throw. */
function valueAsText(value: unknown): string {
  return Object(value) === value ? "an object" : String(value);
}

/** Error thrown for an item or option that the task does not have. Nothing was reported. */
export class UnknownItemError extends BaseError {
  readonly code = "unknown-item";
  /** Name that the task does not have. */
  declare readonly item: string;

  /** @internal */
  constructor(item: string, where: string) {
    super("UnknownItemError", `${where} has no item ${JSON.stringify(item)}`);
    this.item = item;
  }
}

/** Error thrown for a value that the task does not accept. Nothing was reported. */
export class ValueRangeError extends BaseError {
  readonly code = "value-range";
  /** Name of the item that has the value. */
  declare readonly item: string;

  /** @internal */
  constructor(item: string, value: unknown, expected: string) {
    super(
      "ValueRangeError",
      `item ${JSON.stringify(item)} has the value ${valueAsText(value)}, expected ${expected}`,
    );
    this.item = item;
  }
}

/**
 * Error thrown for a missing answer, an answer of the wrong type, or an input that is not an
 * object. Nothing was reported.
 */
export class AnswerError extends BaseError {
  readonly code = "answer";
  /** Name of the question. Undefined if the whole input is invalid. */
  declare readonly question: string | undefined;
  /** Value that was passed as the answer. */
  declare readonly answer: unknown;

  /** @internal */
  constructor(question: string | undefined, answer: unknown, expected: string) {
    const what = question === undefined ? "the input" : `the answer to ${JSON.stringify(question)}`;
    super("AnswerError", `${what} is ${valueAsText(answer)}, expected ${expected}`);
    this.question = question;
    this.answer = answer;
  }
}

/**
 * Error thrown if `crypto.getRandomValues` fails. Nothing was reported, because there is no weaker
 * generator as a fallback.
 */
export class EntropyError extends BaseError {
  readonly code = "no-entropy";

  /** @internal */
  constructor() {
    super("EntropyError", "crypto.getRandomValues gave no randomness");
  }
}

/**
 * Error thrown if the core cannot be loaded, or fails while it runs.
 *
 * Loading fails if the module cannot be fetched or compiled. Where WebAssembly is missing or
 * forbidden, loading fails if the core in JavaScript cannot be loaded either. A
 * Content-Security-Policy without `wasm-unsafe-eval` forbids WebAssembly. After a failure while the
 * core runs, the module is restarted for the next call.
 */
export class WasmError extends BaseError {
  readonly code = "wasm";

  /** @internal */
  constructor(message: string, options?: ErrorOptions) {
    super("WasmError", message, options);
  }
}

/**
 * Error thrown if the collector could not be reached, did not respond in time, or requested a
 * delay. Waiting reports are kept and will be sent again, unchanged.
 */
export class NetworkError extends BaseError {
  readonly code = "network";
  /** HTTP status. Undefined if there was no response. */
  declare readonly status: number | undefined;
  /** Delay that the collector requested, in milliseconds. Undefined if it requested none. */
  declare readonly retryAfterMs: number | undefined;

  /** @internal */
  constructor(
    message: string,
    options: ErrorOptions & { status?: number | undefined; retryAfterMs?: number | undefined } = {},
  ) {
    super("NetworkError", message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * Error thrown if the collector permanently refused an upload. The upload is not sent again. Its
 * reports are lost, because making them again would spend the budget twice.
 */
export class UploadRejectedError extends BaseError {
  readonly code = "upload-rejected";
  /** HTTP status of the response. */
  declare readonly status: number;
  /** Problem type, for example `urn:hushbin:problem:unknown-task`. */
  declare readonly problem: string | undefined;
  /** Number of reports in the upload. */
  declare readonly reports: number;

  /** @internal */
  constructor(
    status: number,
    reports: number,
    problem: string | undefined,
    detail: string | undefined,
  ) {
    const why = detail ?? problem;
    super(
      "UploadRejectedError",
      `the collector refused an upload with status ${status}${why === undefined ? "" : `: ${why}`}`,
    );
    this.status = status;
    this.problem = problem;
    this.reports = reports;
  }
}

/** Codes of {@link TaskError}. */
export type TaskErrorCode =
  | "invalid-task"
  | "unknown-task"
  | "fingerprint-mismatch"
  | "over-max-epsilon"
  | "loose-budget"
  | "loose-level";

/**
 * Error thrown for a task that cannot be used. Its `code` is one of these:
 *
 * - `invalid-task`: the task is malformed or out of range.
 * - `unknown-task`: the collector does not have the task.
 * - `fingerprint-mismatch`: the task's parameters do not match the pinned fingerprint.
 * - `over-max-epsilon`: the reports of a window, or the memo of an epoch, would spend more than the
 *   client's `maxEpsilon`.
 *   For a task of sums, the limit is `maxCentralEpsilon`.
 * - `loose-budget`: the task comes from the collector and is not pinned by its fingerprint. It
 *   allows more reports than the default budget.
 * - `loose-level`: the task comes from the collector and is not pinned by its fingerprint. Its ε
 *   protects less than a person's whole input.
 */
export class TaskError extends BaseError {
  /** Stable name of the problem with the task. */
  declare readonly code: TaskErrorCode;

  /** @internal */
  constructor(code: TaskErrorCode, message: string, options?: ErrorOptions) {
    super("TaskError", message, options);
    this.code = code;
  }
}

/**
 * Error thrown if too many reports wait to be sent, or too many calls wait for the task. Nothing
 * was randomised, so the same answers may be reported later.
 */
export class OutboxFullError extends BaseError {
  readonly code = "outbox-full";

  /** @internal */
  constructor(what: string) {
    super("OutboxFullError", what);
  }
}

/**
 * Error thrown if the browser's database fails. Nothing was reported, and the same answers may be
 * reported later. Waiting reports are kept.
 */
export class StorageError extends BaseError {
  readonly code = "storage";

  /** @internal */
  constructor(cause: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    super("StorageError", `the browser's database failed${why}`, { cause });
  }
}

/**
 * Error thrown for an invalid option of `createClient`, or for an invalid argument of a randomiser.
 */
export class OptionError extends BaseError {
  readonly code = "option";
  /** Name of the invalid option. */
  declare readonly option: string;

  /** @internal */
  constructor(option: string, value: unknown, expected: string) {
    super("OptionError", `${option} is ${valueAsText(value)}, expected ${expected}`);
    this.option = option;
  }
}

/**
 * Error thrown if reports cannot be sealed. Nothing was reported. Possible causes:
 *
 * - None of the collector's keys is pinned by `analyser`.
 * - The browser has no WebCrypto, which exists only in secure contexts.
 * - The code for sealing could not be loaded.
 */
export class SealingError extends BaseError {
  readonly code = "sealing";

  /** @internal */
  constructor(message: string, options?: ErrorOptions) {
    super("SealingError", message, options);
  }
}

/** Error thrown for a client that is closed, or a randomiser that was freed. */
export class ClosedError extends BaseError {
  readonly code = "closed";

  /** @internal */
  constructor(what: string) {
    super("ClosedError", `the ${what} is closed`);
  }
}

/**
 * Error of this package, of any kind.
 *
 * @example
 * ```ts
 * try {
 *   await client.flush();
 * } catch (error) {
 *   if (error instanceof HushbinError && error.code === "network") {
 *     console.log(error.retryAfterMs);
 *   }
 * }
 * ```
 */
export type HushbinError =
  | AnswerError
  | ClosedError
  | EntropyError
  | NetworkError
  | OptionError
  | OutboxFullError
  | SealingError
  | StorageError
  | TaskError
  | UnknownItemError
  | UploadRejectedError
  | ValueRangeError
  | WasmError;

/** Base class of all errors of this package, for `instanceof`. Then `code` tells the classes apart. */
export const HushbinError: typeof BaseError & { readonly prototype: HushbinError } =
  BaseError as never;

/**
 * Error classes that the page passes to files that are loaded later.
 *
 * @internal
 */
export const INJECTED_ERRORS = [
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
] as const;
