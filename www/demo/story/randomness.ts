// Secure randomness of the browser, and the message for a browser without it.

export const NO_RANDOMNESS =
  "The browser provides no secure randomness, so nothing is reported. There is no weaker fallback.";

/**
 * Draws a seed of 32 random bytes for the generator of a simulated crowd.
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
