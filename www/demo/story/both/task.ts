// The tasks of the chapter on both ways, with all parameters.

import type { SumTaskFile } from "../../shared/analysis.js";

export const BROWSING_TASK = {
  id: "browsing",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 10_000,
  honest_fraction: 0.9,
  numbers: [
    { name: "load", min: 0, max: 10_000, unit: "ms" },
    { name: "scrolled", min: 0, max: 100, unit: "%" },
    { name: "minutes", min: 0, max: 60, unit: "min" },
    { name: "clicks", min: 0, max: 200 },
  ],
  messages: { levels: 6, drawn: 4, trials: 3, threshold: "4720160054364177408", noise: 24 },
} as const satisfies SumTaskFile;

/** Languages to choose from, the most frequent first. */
export const LANGUAGES = [
  ...(["English", "Spanish", "French", "German", "Portuguese", "Chinese", "Hindi"] as const),
  "another",
] as const;

export const LANGUAGE_TASK = {
  id: "language",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 10_000,
  honest_fraction: 0.9,
  questions: [{ name: "language", kind: "choice", options: LANGUAGES }],
  messages: { draws: 1, threshold: "699004706866276544" },
} as const satisfies SumTaskFile;

/** Names of the numbers, as people see them. */
export const LABELS: Readonly<Record<(typeof BROWSING_TASK.numbers)[number]["name"], string>> = {
  load: "Load time",
  scrolled: "Scrolled",
  minutes: "Time on page",
  clicks: "Clicks",
};

export function numberLabel(item: string): string {
  return LABELS[item as keyof typeof LABELS] ?? item;
}

/** Formats a number with its unit. A wide range has fewer decimals. */
export function formatWithUnit(
  value: number,
  range: readonly [number, number],
  unit?: string,
): string {
  const places = Math.max(0, 4 - Math.ceil(Math.log10(range[1] - range[0])));
  const format = { minimumFractionDigits: places, maximumFractionDigits: places };
  const text = new Intl.NumberFormat("en-GB", format).format(value).replace("-", "−");
  return unit === undefined ? text : `${text} ${unit}`;
}
