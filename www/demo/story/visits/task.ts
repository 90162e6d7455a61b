// The task of the chapter on visits. It is a literal, so that the compiler knows the names of its
// questions and options.

import type { Task } from "hushbin";

const COLLISION_PARAMETERS = {
  name: "collision",
  rule: "heaviest",
  favoured: 1,
  hashing: "balanced",
} as const;

/** Task with three questions. The collector has the same task, from `tasks/visits.json`. */
export const VISITS_TASK = {
  id: "visits",
  epsilon: 1,
  questions: [
    {
      name: "theme",
      kind: "choice",
      options: ["dark", "light", "system", "high-contrast"],
      weight: 63,
      mechanism: { ...COLLISION_PARAMETERS, buckets: 4 },
    },
    {
      name: "features",
      kind: "set",
      options: ["search", "export", "share", "comments", "offline"],
      sparsity: 2,
      weight: 100,
      mechanism: { ...COLLISION_PARAMETERS, favoured: 2, buckets: 7 },
    },
    {
      name: "loadMs",
      kind: "number",
      edges: [
        50, 60, 70, 80, 95, 110, 130, 155, 180, 215, 250, 300, 350, 420, 500, 590, 700, 830, 980,
        1150, 1350, 1600, 1900, 2250, 2650, 3150, 3700, 4400, 5200, 6150, 7300, 8600, 10000,
      ],
      unit: "ms",
      weight: 82,
      mechanism: { name: "pattern", outputs: 40, favoured: [2, 3, 4, 5, 6, 7, 8, 9, 10, 33, 36] },
    },
  ],
} as const satisfies Task;

export const [THEME, FEATURES, LOAD] = VISITS_TASK.questions;

export type Theme = (typeof THEME.options)[number];
export type Feature = (typeof FEATURES.options)[number];

/** Answers of one visitor to the three questions. */
export interface Visit {
  readonly theme: Theme;
  readonly features: readonly Feature[];
  readonly loadMs: number;
}

/**
 * Returns the entries of each answer. An option is given as an entry with its index and value 1.
 * The load time is given as the value of item 0.
 */
export function visitEntries({
  theme,
  features,
  loadMs,
}: Visit): { item: number; value: number }[][] {
  const option = (item: number) => ({ item, value: 1 });
  return [
    [option(THEME.options.indexOf(theme))],
    features.map((feature) => option(FEATURES.options.indexOf(feature))),
    [{ item: 0, value: loadMs }],
  ];
}

/** Quantiles of load times that the page requests, and their names. */
export const QUANTILES = [
  [0.5, "Median"],
  [0.75, "75th percentile"],
  [0.95, "95th percentile"],
] as const;

/**
 * Shortest and longest load time in ms that the task accepts. Other load times are clipped to this
 * range.
 */
export const [SHORTEST, LONGEST] = [LOAD.edges[0], LOAD.edges[LOAD.edges.length - 1] as number];

/** Clips a load time to the range of the task. */
export function clipLoadTime(loadMs: number): number {
  return Math.min(Math.max(loadMs, SHORTEST), LONGEST);
}

/** Formats the name of an option for people: "High contrast" for "high-contrast". */
export function optionLabel(option: string): string {
  return option.charAt(0).toUpperCase() + option.slice(1).replace("-", " ");
}
