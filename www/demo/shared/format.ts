// Functions that format numbers for people.

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

/** Formats a count: 12,345. */
export function formatCount(value: number): string {
  return whole.format(value);
}

/** Formats a count with its noun: "1 report", "2 reports". */
export function formatCountWithNoun(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}

/** Formats a share as a percentage, with the minus sign U+2212: −12%. */
export function formatPercent(share: number, digits = 0): string {
  const text = (Math.abs(share) * 100).toFixed(digits);
  return `${share < 0 && Number(text) !== 0 ? "−" : ""}${text}%`;
}

/** Formats the half-width of an interval in percentage points: ±7.2. */
export function formatHalfWidth(half: number): string {
  const points = half * 100;
  return `±${points >= 100 ? formatCount(points) : points.toFixed(points < 10 ? 1 : 0)}`;
}

/** Formats a number with at most three significant digits, such as 7.39. */
export function formatThreeDigits(value: number): string {
  return Number(value.toPrecision(3)).toString();
}

/** Formats a count, rounded up to two significant digits. */
export function formatCountRoundedUp(value: number): string {
  const grain = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return formatCount(Math.ceil(value / grain) * grain);
}

/**
 * Formats a privacy loss, rounded up to six decimals so that the text never understates the loss.
 */
export function formatLossSixDecimals(epsilon: number): string {
  return (Math.ceil(epsilon * 1e6) / 1e6).toString();
}

/** Formats a lower bound of a privacy loss, rounded down to three decimals. */
export function formatEpsilonLowerBound(epsilon: number): string {
  return (Math.floor(epsilon * 1000) / 1000).toFixed(3);
}

/** Formats bytes as lower-case hexadecimal digits, two for each byte. */
export function formatHex(bytes: Uint8Array): string {
  return Array.from(bytes, formatHexByte).join("");
}

/** Formats a byte as two hexadecimal digits. */
export function formatHexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

/**
 * Formats a number in scientific notation, with superscript digits: 10⁻⁸, 2.5 × 10⁻⁹. The argument
 * is the result of `toExponential`.
 */
export function formatScientific(exponential: string): string {
  const [mantissa = "", exponent = ""] = exponential.split("e");
  const raised = exponent.replace("+", "").replace(/./g, (sign) => RAISED[sign] ?? sign);
  return Number(mantissa) === 1 ? `10${raised}` : `${Number(mantissa)} × 10${raised}`;
}

const RAISED: Readonly<Record<string, string>> = {
  "-": "⁻",
  ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((raised, digit) => [String(digit), raised])),
};
