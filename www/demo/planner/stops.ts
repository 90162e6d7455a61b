// Where a slider stops: round numbers at about even ratios, so that one step is
// about one tenth of the value wherever it stands.

const MANTISSAS = [
  10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 25, 28, 30, 35, 40, 45, 50, 55, 60, 70, 80, 90,
];

/** Round numbers from `min` to `max`, both of them included. */
export function stopsBetween(min: number, max: number, whole = false): number[] {
  const [low, high] = [Math.floor(Math.log10(min)) - 1, Math.ceil(Math.log10(max)) - 1];
  const between: number[] = [];
  for (let power = low; power <= high; power += 1) {
    // By their digits: 3 × 10⁻¹ is not 0.3.
    between.push(...MANTISSAS.map((mantissa) => Number(`${mantissa}e${power}`)));
  }
  const inside = between.filter(
    (value) => value > min && value < max && (!whole || Number.isInteger(value)),
  );
  return [min, ...inside, max];
}

/** Powers of ten from 10^`low` to 10^`high`. */
export function decades(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => Number(`1e${low + index}`));
}

/** The stop nearest to a positive value, by ratio. */
export function nearest(stops: readonly number[], value: number): number {
  const distance = (stop: number | undefined) => Math.abs(Math.log((stop ?? Infinity) / value));
  return stops.reduce(
    (best, stop, index) => (distance(stop) < distance(stops[best]) ? index : best),
    0,
  );
}
