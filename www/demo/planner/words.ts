// What the page says of mechanisms and numbers.

import type { QuestionPlan, VerdictKind } from "../shared/analysis.js";
import { count, powers } from "../shared/format.js";

type Mechanism = QuestionPlan["mechanism"];

const NAMES: Readonly<Record<string, string>> = {
  collision: "Collision",
  coco: "CoCo",
  "hash-bin": "Hash-bin",
  window: "Window",
  pattern: "Pattern",
};

/** A mechanism's name. */
export function nameOf({ name }: Mechanism): string {
  return NAMES[name] ?? name;
}

/** A mechanism's parameters, as a task file has them. */
export function parametersOf({ name: _, ...parameters }: Mechanism): string {
  const said = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return said.map(([name, value]) => `${name} ${value}`).join(", ");
}

/** A number in three significant digits, or in scientific notation. */
export function digits(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) < 1e-4) return powers(value.toExponential(2));
  return value >= 1000 ? count(value) : Number(value.toPrecision(3)).toString();
}

/** A privacy loss in three significant digits, rounded up. */
export function lossDigits(value: number | null | undefined): string {
  if (value === null || value === undefined || value <= 0) return digits(value);
  const grain = 10 ** (2 - Math.floor(Math.log10(value)));
  // What is within a rounding of three digits has three digits.
  return digits(Math.ceil(value * grain * (1 - 1e-12)) / grain);
}

/** A frequency in per cent. */
export function perCent(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `${digits(100 * value)}%`;
}

const compactly = new Intl.NumberFormat("en-GB", { notation: "compact" });

/** A count on an axis: 100K, 1M. */
export function compact(value: number): string {
  return compactly.format(value).replace("k", "K").replace("bn", "B").toUpperCase();
}

/** How many people, and in how many days they report. */
export function days(value: number | null): string {
  if (value === null) return "–";
  const whole = Math.ceil(value);
  return whole === 1 ? "1 day" : `${count(whole)} days`;
}

/** A verdict in two words. */
export const VERDICTS: Readonly<Record<VerdictKind, string>> = {
  useful: "Useful",
  "frequent-only": "Frequent items only",
  noise: "All noise",
  missed: "Goal missed",
};
