/**
 * Reports of the web vitals LCP, INP, CLS and TTFB, which the library `web-vitals` measures.
 *
 * @packageDocumentation
 */

import type { Client } from "./client-interface.js";
import type { Task } from "./task.js";
import type { WEB_VITALS_THRESHOLDS } from "./web-vitals-thresholds.js";

type MetricName = keyof typeof WEB_VITALS_THRESHOLDS;

const MECHANISM = {
  name: "collision",
  rule: "heaviest",
  favoured: 1,
  hashing: "balanced",
  buckets: 4,
} as const;

// A person may leave before a metric has a value. INP needs an interaction.
const METRIC = { kind: "number", optional: true, mechanism: MECHANISM } as const;

/**
 * Task that asks for LCP, INP, CLS and TTFB of one page view. Collectors get the same task as the
 * file `hushbin/web-vitals.json`.
 *
 * Each metric has 12 bins, some of which end at Google's thresholds. The bins are narrow around the
 * thresholds, so that the interval of the 75th percentile is narrow there.
 */
export const webVitalsTask = {
  id: "web-vitals",
  epsilon: 1,
  questions: [
    {
      name: "LCP",
      unit: "ms",
      edges: [0, 600, 1000, 1400, 1800, 2150, 2500, 3000, 3500, 4000, 5500, 10_000, 60_000],
      ...METRIC,
    },
    {
      name: "INP",
      unit: "ms",
      // Browsers round durations of events to multiples of 8 ms. One of them is the threshold.
      edges: [-4, 36, 76, 124, 164, 204, 260, 324, 404, 500, 700, 1004, 10_004],
      step: 8,
      ...METRIC,
    },
    {
      name: "CLS",
      edges: [0, 0.005, 0.02, 0.04, 0.07, 0.1, 0.13, 0.16, 0.2, 0.25, 0.35, 0.5, 5],
      ...METRIC,
    },
    {
      name: "TTFB",
      unit: "ms",
      edges: [0, 150, 300, 450, 600, 800, 1000, 1200, 1500, 1800, 2500, 5000, 30_000],
      ...METRIC,
    },
  ],
} as const satisfies Task;

type WebVitalsTask = typeof webVitalsTask;

const NO_VALUES = { LCP: null, INP: null, CLS: null, TTFB: null } as const;

/** Function of the library `web-vitals` that passes each new value of a metric to `callback`. */
type OnMetric = (
  callback: (metric: { readonly value: number }) => void,
  options: { readonly reportAllChanges: boolean },
) => void;

/** Functions of the library `web-vitals` that this module calls: `onLCP` and so on. */
export type WebVitalsLibrary = Readonly<Record<`on${MetricName}`, OnMetric>>;

/**
 * Reports the web vitals of this page view as the page is left.
 *
 * A metric without a value is reported as missing, so that the existence of a report says nothing.
 * Call the function once per page, before or after the person agrees.
 *
 * @example
 * ```ts
 * import { createClient } from "hushbin";
 * import { reportWebVitals, webVitalsTask } from "hushbin/web-vitals";
 * import * as library from "web-vitals";
 *
 * const client = createClient({ endpoint: "https://collector.example", task: webVitalsTask });
 * reportWebVitals(client, library);
 * ```
 *
 * @param library the module `web-vitals`, version 4 or later
 * @throws ClosedError
 */
export function reportWebVitals(
  client: Pick<Client<WebVitalsTask>, "atLeave">,
  library: WebVitalsLibrary,
): void {
  const values: Record<MetricName, number | null> = { ...NO_VALUES };
  // A page that is restored from the browser's cache is measured again.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) {
      Object.assign(values, NO_VALUES);
    }
  });
  for (const name of Object.keys(values) as MetricName[]) {
    // The library reports a final value too late for a page that is being closed.
    const onMetric = library[`on${name}`];
    onMetric(
      ({ value }) => {
        values[name] = value;
      },
      { reportAllChanges: true },
    );
  }
  client.atLeave(() => values);
}
