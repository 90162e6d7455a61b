// Names of mechanisms and formats of numbers.

import { maximumCertaintyPercent } from "../../client/certainty.js";
import { roundUpThreeDigits } from "../../client/rounding.js";
import type { PlanVerdictKind, QuestionPlan } from "../shared/analysis.js";
import { formatCount, formatScientific } from "../shared/format.js";

type Mechanism = QuestionPlan["mechanism"];

const MECHANISM_NAMES: Readonly<Record<string, string>> = {
  collision: "Collision",
  coco: "CoCo",
  "hash-bin": "Hash-bin",
  window: "Window",
  pattern: "Pattern",
};

/** Returns the display name of a mechanism. */
export function mechanismName({ name }: Mechanism): string {
  return MECHANISM_NAMES[name] ?? name;
}

/** Lists the parameters of a mechanism, each with its name in a task file and its value. */
export function mechanismParameters({ name: _, ...parameters }: Mechanism): string {
  const said = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return said.map(([name, value]) => `${name} ${value}`).join(", ");
}

/**
 * Formats a number with three significant digits, or in scientific notation if it is tiny. Returns
 * a dash for an unknown number.
 */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value !== 0 && Math.abs(value) < 1e-4) return formatScientific(value.toExponential(2));
  return value >= 1000 ? formatCount(value) : Number(value.toPrecision(3)).toString();
}

/** Formats a privacy loss, rounded up to three significant digits. */
export function formatLossThreeDigits(value: number | null | undefined): string {
  if (value === null || value === undefined || value <= 0) return formatNumber(value);
  return formatNumber(roundUpThreeDigits(value));
}

/** Describes in words how certain an observer can become at this ε. */
export function certaintyWords(epsilon: number): string {
  return `50\u00a0% sure becomes at most ${maximumCertaintyPercent(epsilon)}\u00a0% sure`;
}

/** Formats a frequency in per cent. */
export function formatFrequency(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return `${formatNumber(100 * value)}%`;
}

const compactly = new Intl.NumberFormat("en-GB", { notation: "compact" });

/** Formats a count for an axis: 100K, 1M. */
export function formatCompactCount(value: number): string {
  return compactly.format(value).replace("k", "K").replace("bn", "B").toUpperCase();
}

/** Formats a number of days, rounded up to a whole number. */
export function formatDays(value: number | null): string {
  if (value === null) return "–";
  const whole = Math.ceil(value);
  return whole === 1 ? "1 day" : `${formatCount(whole)} days`;
}

/** Short text for each kind of verdict. */
export const VERDICTS: Readonly<Record<PlanVerdictKind, string>> = {
  useful: "Useful",
  "frequent-only": "Frequent items only",
  noise: "Only noise",
  missed: "Accuracy goal missed",
};
