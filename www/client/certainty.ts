/** The meaning of ε in words that need no mathematics. */

/**
 * Returns how sure of an answer, in per cent, someone can become who was 50 % sure before.
 *
 * A report multiplies the odds by at most exp(ε), so this is exp(ε) / (1 + exp(ε)), to the
 * nearest per cent. Above 99 % it is rounded up to the first digit that differs from 9.
 */
export function certaintyOf(epsilon: number): string {
  // Computed as the complement: 1 - p loses all digits near 1.
  const doubt = 100 / (1 + Math.exp(epsilon));
  if (doubt >= 1) {
    return (100 - doubt).toFixed(0);
  }
  const digits = -Math.floor(Math.log10(doubt));
  if (digits > 12) {
    return "100";
  }
  const unit = 10 ** digits;
  return (100 - Math.floor(doubt * unit) / unit).toFixed(digits);
}
