/** The core's error codes, by number: `ErrorCode` in `src/error.rs`, which a test holds equal. */
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

const EXPLAINED: Readonly<Partial<Record<string, string>>> = {
  "out-of-range": "a parameter is out of range",
  "task-id": "the id is not 1 to 64 of a-z, 0-9 and '-', first no '-'",
  "item-name": "a name is empty, too long or holds a control character",
  "duplicate-name": "two items or questions share a name",
  combination: "parameters or lengths do not go together",
  "unknown-item": "an item does not exist",
  "duplicate-item": "an item occurs twice",
  "answer-count": "too many or too few answers",
  "value-range": "a value is not one that the task takes",
  "unknown-mechanism": "the module lacks the mechanism, or a kind of question",
};

/** A core error in words. `hushbin task check` says more about a task. */
export function explain(code: number): string {
  const name: string | undefined = CORE_CODES[code as keyof typeof CORE_CODES];
  return (name && EXPLAINED[name]) ?? name ?? `error ${code}`;
}
