/**
 * Thresholds of web vitals, as Google publishes them at https://web.dev/articles/vitals: up to the
 * first, a value is good, and above the second, it is poor.
 */
export const WEB_VITALS_THRESHOLDS = {
  LCP: [2500, 4000],
  INP: [200, 500],
  CLS: [0.1, 0.25],
  TTFB: [800, 1800],
} as const;
