// Axes, and positions on them in per cent of the length. The browser converts positions to pixels
// at any width.

/** Axis from one number to another, with ticks. */
export interface ChartAxis {
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
}

/**
 * Returns the distance between ticks: 1, 2 or 5 times a power of ten. Ticks at this distance divide
 * the span into at most `most` parts.
 */
function tickStep(span: number, most: number): number {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return ([1, 2, 5, 10].find((digit) => span / (digit * power) <= most) ?? 10) * power;
}

/**
 * Returns an axis that contains the given values, with ticks at round numbers. With `zero`, the
 * axis also contains 0.
 */
export function axisContaining(
  values: readonly number[],
  { zero = true, most = 4 } = {},
): ChartAxis {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), zero ? 0 : Infinity);
  const high = finite.reduce((greatest, value) => Math.max(greatest, value), zero ? 0 : -Infinity);
  if (!(low < high)) return { from: (low || 0) - 1, to: (low || 0) + 1, ticks: [low || 0] };
  const margin = (high - low) * 0.03;
  const [from, to] = [low - margin, high + margin];
  const by = tickStep(high - low, most);
  const first = Math.ceil(from / by);
  const length = Math.floor(to / by) - first + 1;
  // Each tick is a multiple of the step by an integer, so that rounding errors do not add up.
  // Adding 0 below turns −0 into 0.
  const ticks = Array.from({ length }, (_, index) =>
    Number(((first + index) * by).toPrecision(12)),
  );
  return { from, to, ticks: ticks.map((tick) => tick + 0) };
}

/**
 * Returns the position of a value on the axis, from 0 to 100. A value outside of the axis is moved
 * to its end.
 */
export function positionOnAxis({ from, to }: ChartAxis, value: number): number {
  const held = Math.min(Math.max(value, from), to);
  return ((held - from) / (to - from)) * 100;
}

/** Formats a position in per cent as an SVG attribute. */
export const percentAttribute = (per: number): string => `${Number(per.toFixed(3))}%`;
