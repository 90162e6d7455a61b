/**
 * Everything that can go wrong, as classes with stable codes.
 *
 * Tell errors apart by `code` (or `instanceof`); messages are for people and
 * may change.
 */

/** Stable name of a kind of error. */
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

// Fields that constructors set are only declared, so that pages do not download them twice.

/** Base of all errors of this package. */
export abstract class HushbinError extends Error {
  /** Stable name of what went wrong. */
  abstract readonly code: ErrorCode;

  /** @internal */
  constructor(name: string, message: string, options?: ErrorOptions) {
    super(message, options);
    // Not `new.target.name`, which minifiers change.
    this.name = name;
  }
}

/** A value in words. Objects may resist being turned into text. */
function shown(value: unknown): string {
  return Object(value) === value ? "an object" : String(value);
}

/** An input names an item or option that the task does not have. Nothing was reported. */
export class UnknownItemError extends HushbinError {
  readonly code = "unknown-item";
  /** The name that the task does not have. */
  declare readonly item: string;

  /** @internal */
  constructor(item: string, where: string) {
    super("UnknownItemError", `${where} has no item ${JSON.stringify(item)}`);
    this.item = item;
  }
}

/** A value is not one that the task takes. Nothing was reported. */
export class ValueRangeError extends HushbinError {
  readonly code = "value-range";
  /** The item whose value it is. */
  declare readonly item: string;

  /** @internal */
  constructor(item: string, value: unknown, expected: string) {
    super(
      "ValueRangeError",
      `item ${JSON.stringify(item)} has the value ${shown(value)}, expected ${expected}`,
    );
    this.item = item;
  }
}

/**
 * A question is not answered, or not by what it asks for; or an input is no
 * object. Nothing was reported.
 */
export class AnswerError extends HushbinError {
  readonly code = "answer";
  /** The question's name; undefined where the whole input is wrong. */
  declare readonly question: string | undefined;
  /** What was given instead of an answer. */
  declare readonly answer: unknown;

  /** @internal */
  constructor(question: string | undefined, answer: unknown, expected: string) {
    const what = question === undefined ? "the input" : `the answer to ${JSON.stringify(question)}`;
    super("AnswerError", `${what} is ${shown(answer)}, expected ${expected}`);
    this.question = question;
    this.answer = answer;
  }
}

/**
 * The browser gave no randomness. Nothing was reported: there is no weaker
 * generator to fall back on.
 */
export class EntropyError extends HushbinError {
  readonly code = "no-entropy";

  /** @internal */
  constructor() {
    super("EntropyError", "crypto.getRandomValues gave no randomness");
  }
}

/**
 * WebAssembly is missing, forbidden (a content security policy without
 * `wasm-unsafe-eval`), could not be loaded, or failed while running. After a
 * failure while running the module is started afresh for the next call.
 */
export class WasmError extends HushbinError {
  readonly code = "wasm";

  /** @internal */
  constructor(message: string, options?: ErrorOptions) {
    super("WasmError", message, options);
  }
}

/**
 * The collector could not be reached, did not answer in time, or asked to try
 * later. What was queued is kept and sent again, unchanged.
 */
export class NetworkError extends HushbinError {
  readonly code = "network";
  /** The answer's status, if there was an answer. */
  declare readonly status: number | undefined;
  /** How long the collector asked to wait, in milliseconds. */
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
 * The collector refused an upload for good, so it is not sent again: its
 * reports are lost, because randomising them anew would spend the budget
 * twice.
 */
export class UploadRejectedError extends HushbinError {
  readonly code = "upload-rejected";
  /** The answer's status. */
  declare readonly status: number;
  /** The collector's problem type, such as `urn:hushbin:problem:unknown-task`. */
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
 * The task cannot be used: it is malformed or out of range (`invalid-task`),
 * the collector does not have it (`unknown-task`), its parameters are not
 * the pinned ones (`fingerprint-mismatch`), the reports of a window would spend more
 * than the client's `maxEpsilon` (`over-max-epsilon`), or the collector describes a task
 * that is not pinned and that may report more often than tasks do by default, or of permanent
 * answers (`loose-budget`), or whose ε is of less than a person's whole input (`loose-level`).
 */
export class TaskError extends HushbinError {
  /** Stable name of what is wrong with it. */
  declare readonly code: TaskErrorCode;

  /** @internal */
  constructor(code: TaskErrorCode, message: string, options?: ErrorOptions) {
    super("TaskError", message, options);
    this.code = code;
  }
}

/**
 * So much waits to be sent that no further report is taken. Nothing was
 * randomised, so the same input may be reported later.
 */
export class OutboxFullError extends HushbinError {
  readonly code = "outbox-full";

  /** @internal */
  constructor(what: string) {
    super("OutboxFullError", what);
  }
}

/**
 * The browser's database did not take or give data. Nothing was reported, and the same
 * input may be reported later; reports that waited go on waiting.
 */
export class StorageError extends HushbinError {
  readonly code = "storage";

  /** @internal */
  constructor(cause: unknown) {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    super("StorageError", `the browser's database failed${why}`, { cause });
  }
}

/** An option of `createClient` is not one that can be used. */
export class OptionError extends HushbinError {
  readonly code = "option";
  /** The option. */
  declare readonly option: string;

  /** @internal */
  constructor(option: string, value: unknown, expected: string) {
    super("OptionError", `${option} is ${shown(value)}, expected ${expected}`);
    this.option = option;
  }
}

/**
 * Reports cannot be sealed: no key that the collector names is one of `analyser`, or the
 * browser has no WebCrypto, which it has in secure contexts alone. Nothing was reported.
 */
export class SealingError extends HushbinError {
  readonly code = "sealing";

  /** @internal */
  constructor(message: string, options?: ErrorOptions) {
    super("SealingError", message, options);
  }
}

/** The client was closed, or the randomiser freed. */
export class ClosedError extends HushbinError {
  readonly code = "closed";

  /** @internal */
  constructor(what: string) {
    super("ClosedError", `the ${what} is closed`);
  }
}

/**
 * Classes that files take which are loaded later.
 *
 * @internal
 */
export const HANDED = [
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
