/** The core's error codes, by number: `ErrorCode` in `src/error/code.rs`, which a test holds equal. */
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

/** The code that means: the browser gave no randomness. */
export const NO_ENTROPY = 13;

/** The code that means: the module lacks the task's mechanism or kind of question. */
export const UNKNOWN_MECHANISM = 15;

/**
 * Returns a core error in words, which are loaded for it; its number where they cannot be.
 * `hushbin task check` says more about a task.
 */
export async function explained(code: number): Promise<string> {
  const told = await import("./refusals.js").then(
    ({ REFUSALS }) => REFUSALS[code],
    () => undefined,
  );
  return told ?? `error ${code}`;
}
