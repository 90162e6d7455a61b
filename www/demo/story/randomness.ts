// Secure randomness of the browser, and the words for a browser that has none.

export const NO_RANDOMNESS =
  "The browser gave no secure randomness, so nothing is reported. There is no weaker way.";

/**
 * Draws the seed of a crowd.
 *
 * @throws Error if the browser has no secure randomness
 */
export function drawSeed(): Uint8Array<ArrayBuffer> {
  try {
    return crypto.getRandomValues(new Uint8Array(32));
  } catch (cause) {
    throw new Error(NO_RANDOMNESS, { cause });
  }
}
