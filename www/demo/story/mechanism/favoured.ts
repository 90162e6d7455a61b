// Rules that favour the c strongest of the buckets.

/**
 * The probability that each bucket is among the c strongest, ties broken
 * uniformly at random.
 */
export function favouredChances(strengths: readonly number[], c: number): number[] {
  const sorted = [...strengths].sort((a, b) => b - a);
  const last = sorted[c - 1] ?? 0;
  const stronger = strengths.filter((strength) => strength > last).length;
  const tied = strengths.filter((strength) => strength === last).length;
  return strengths.map((strength) =>
    strength > last ? 1 : strength === last ? (c - stronger) / tied : 0,
  );
}

/** The probability of each bucket: e/Ω if favoured, 1/Ω if not. */
export function loaded(strengths: readonly number[], c: number, epsilon: number): number[] {
  const e = Math.exp(epsilon);
  const total = c * e + strengths.length - c;
  return favouredChances(strengths, c).map((chance) => (1 + (e - 1) * chance) / total);
}
