// Exact confidence bounds for a probability, from a count of successes.

/**
 * Bounds that a probability lies between with at least the given confidence,
 * after `hits` of `trials`. Source: Clopper and Pearson, "The use of confidence
 * or fiducial limits illustrated in the case of the binomial", 1934.
 */
export function clopperPearson(hits: number, trials: number, confidence: number): [number, number] {
  const tail = (1 - confidence) / 2;
  // P(X ≥ k) under p is the beta tail I_p(k, n − k + 1), which grows with p.
  const low = hits === 0 ? 0 : solve((p) => betaTail(p, hits, trials - hits + 1) - tail);
  const high = hits === trials ? 1 : solve((p) => tail - 1 + betaTail(p, hits + 1, trials - hits));
  return [low, high];
}

/** Where a growing function crosses zero on [0, 1]. */
function solve(f: (p: number) => number): number {
  let [from, to] = [0, 1];
  for (let step = 0; step < 80; step++) {
    const middle = (from + to) / 2;
    if (f(middle) < 0) from = middle;
    else to = middle;
  }
  return (from + to) / 2;
}

/** The regularised incomplete beta function I_x(a, b), for a, b ≥ 1. */
export function betaTail(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const scale = Math.exp(
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x),
  );
  // The continued fraction converges fast on its own side of the mean.
  return x < (a + 1) / (a + b + 2)
    ? (scale * fraction(x, a, b)) / a
    : 1 - (scale * fraction(1 - x, b, a)) / b;
}

/** The continued fraction of I_x(a, b) (DLMF 8.17.22), by Lentz's method. */
function fraction(x: number, a: number, b: number): number {
  const floor = 1e-300;
  const away = (value: number) => (Math.abs(value) < floor ? floor : value);
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let c = 1;
  let found = d;
  for (let m = 1; m <= 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      d = 1 / away(1 + term * d);
      c = away(1 + term / c);
      change = c * d;
      found *= change;
    }
    if (Math.abs(change - 1) < 1e-14) return found;
  }
  throw new RangeError(`I_x(a, b) does not converge at x = ${x}, a = ${a}, b = ${b}.`);
}

/** ln Γ(x) for x ≥ 1: Stirling's series, after moving x beyond 10. */
function logGamma(x: number): number {
  let shifted = x;
  let product = 1;
  while (shifted < 10) product *= shifted++;
  const inverse = 1 / (shifted * shifted);
  const series =
    (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) /
    shifted;
  return (
    (shifted - 0.5) * Math.log(shifted) -
    shifted +
    Math.log(2 * Math.PI) / 2 +
    series -
    Math.log(product)
  );
}
