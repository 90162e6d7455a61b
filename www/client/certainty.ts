/** The meaning of ε in everyday words: how certain an observer can become. */

/**
 * Returns the maximum certainty, in per cent, that a report can give to an observer who was 50 %
 * certain.
 *
 * A report multiplies the odds by at most exp(ε). The result is therefore exp(ε) / (1 + exp(ε)),
 * rounded to the nearest per cent. A result above 99 % is rounded up at its first digit other than
 * 9.
 */
export function maximumCertaintyPercent(epsilon: number): string {
  // Compute the complement: 1 − p would lose all digits near 1.
  const doubt = 100 / (1 + Math.exp(epsilon));
  if (doubt > 49.5) {
    // The nearest per cent would be 50, as if the report revealed nothing.
    return `${50 + Math.ceil(10 * (50 - doubt)) / 10}`;
  }
  if (doubt >= 1) {
    return (100 - doubt).toFixed(0);
  }
  // Position of the first non-zero decimal of the doubt.
  const digits = -Math.floor(Math.log10(doubt));
  if (digits > 12) {
    return "100";
  }
  const unit = 10 ** digits;
  // The doubt is rounded down, so the certainty is rounded up.
  return (100 - Math.floor(doubt * unit) / unit).toFixed(digits);
}
