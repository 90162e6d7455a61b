/**
 * Rounding of upper bounds that people read. Values are rounded up, so that a bound remains true.
 */

/** Rounds a positive number up to three significant digits. */
export function roundUpThreeDigits(number: number): number {
  const power = Math.floor(Math.log10(number)) - 2;
  // A number such as 1.23 divided by 0.01 can exceed 123 by a rounding error.
  const units = Math.ceil((number / 10 ** power) * (1 - 1e-12));
  // Reading the decimal gives the nearest float. A product could be one digit off.
  return Number(`${units}e${power}`);
}
