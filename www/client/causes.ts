/** Causes of errors, as text. */

/** Returns the message of an error, or any other thrown value as text. */
export const errorMessage = (cause: unknown) =>
  cause instanceof Error ? cause.message : String(cause);

/** Throws an error for something that is missing. */
export function throwMissing(what: string): never {
  throw new Error(what);
}
