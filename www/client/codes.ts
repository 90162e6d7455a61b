/**
 * Names of the core's error codes, by number. A test compares them with `ErrorCode` in
 * `src/error/code.rs`.
 */
export const CORE_CODES = {
  1: "out-of-range",
  2: "task-id",
  3: "item-name",
  4: "duplicate-name",
  5: "combination",
  6: "task-differs",
  7: "unknown-item",
  8: "duplicate-item",
  9: "value-range",
  10: "version",
  11: "fingerprint-mismatch",
  12: "malformed",
  13: "no-entropy",
  14: "answer-count",
  15: "unknown-mechanism",
} as const satisfies Readonly<Record<number, string>>;

/** Error code for a browser that returned no randomness. */
export const NO_ENTROPY_CODE = 13;

/** Error code for a module that lacks the task's mechanism or kind of question. */
export const UNKNOWN_MECHANISM_CODE = 15;

/** Function that loads the texts of error codes, by number. */
export type ErrorTextsLoader = () => Promise<{
  readonly ERROR_TEXTS: Readonly<Partial<Record<number, string>>>;
}>;

/**
 * Returns the text for an error code of the core. The texts are loaded when needed. If loading
 * fails, the result contains only the number. The command `hushbin task check` explains errors of a
 * task in more detail.
 */
export async function coreErrorText(code: number, load: ErrorTextsLoader): Promise<string> {
  const text = await load().then(
    ({ ERROR_TEXTS }) => ERROR_TEXTS[code],
    () => undefined,
  );
  return text ?? `error ${code}`;
}
