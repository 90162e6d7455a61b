// The stops of sliders: round numbers with about equal ratios. One step changes the value by about
// a tenth.

const MANTISSAS = [
  10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 30, 35, 40, 45, 50, 55, 60, 70, 80, 90,
];

/**
 * Returns round numbers from `min` to `max`, including both. If `whole`, the numbers between them
 * are whole.
 */
export function sliderStopsBetween(min: number, max: number, whole = false): number[] {
  const [low, high] = [Math.floor(Math.log10(min)) - 1, Math.ceil(Math.log10(max)) - 1];
  const between: number[] = [];
  for (let power = low; power <= high; power += 1) {
    // Parses decimal digits, because the product 3 × 0.1 is not 0.3.
    between.push(...MANTISSAS.map((mantissa) => Number(`${mantissa}e${power}`)));
  }
  const inside = between.filter(
    (value) => value > min && value < max && (!whole || Number.isInteger(value)),
  );
  return [min, ...inside, max];
}

/** Returns the powers of ten from 10^`low` to 10^`high`. */
export function powersOfTen(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => Number(`1e${low + index}`));
}

/** Returns the index of the stop whose ratio to a positive value is closest to 1. */
export function nearestStopIndex(stops: readonly number[], value: number): number {
  const distance = (stop: number | undefined) => Math.abs(Math.log((stop ?? Infinity) / value));
  return stops.reduce(
    (best, stop, index) => (distance(stop) < distance(stops[best]) ? index : best),
    0,
  );
}
