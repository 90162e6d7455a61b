// Places on an axis, in per cent of its length: the browser makes pixels of them at any width.

/** An axis from one number to another. */
export interface Axis {
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
}

/** Returns a step of 1, 2 or 5 times a power of ten that divides a span into at most `most`. */
function step(span: number, most: number): number {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return ([1, 2, 5, 10].find((digit) => span / (digit * power) <= most) ?? 10) * power;
}

/** An axis that holds these numbers, and 0 if it is to, with round ticks within. */
export function axisOf(values: readonly number[], { zero = true, most = 4 } = {}): Axis {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), zero ? 0 : Infinity);
  const high = finite.reduce((greatest, value) => Math.max(greatest, value), zero ? 0 : -Infinity);
  if (!(low < high)) return { from: (low || 0) - 1, to: (low || 0) + 1, ticks: [low || 0] };
  const margin = (high - low) * 0.03;
  const [from, to] = [low - margin, high + margin];
  const by = step(high - low, most);
  const first = Math.ceil(from / by);
  const length = Math.floor(to / by) - first + 1;
  // Of whole numbers, so that no error adds up; 0 is no −0.
  const ticks = Array.from({ length }, (_, index) =>
    Number(((first + index) * by).toPrecision(12)),
  );
  return { from, to, ticks: ticks.map((tick) => tick + 0) };
}

/** Returns the position on the axis, from 0 to 100. Values outside are clipped to the ends. */
export function place({ from, to }: Axis, value: number): number {
  const held = Math.min(Math.max(value, from), to);
  return ((held - from) / (to - from)) * 100;
}

/** A place as an SVG attribute. */
export const at = (per: number): string => `${Number(per.toFixed(3))}%`;
