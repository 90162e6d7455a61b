import { describe, expect, it } from "vitest";
import { webVitalsTask } from "../../client/web-vitals.js";
import { WEB_VITALS_THRESHOLDS } from "../../client/web-vitals-thresholds.js";
import { webVitalRating } from "../web-vitals.js";

describe("a web vital", () => {
  it.each([
    [[0, 200], "Good"],
    [[168, 256], "Good, or needs improvement"],
    [[208, 496], "Needs improvement"],
    [[264, 696], "Needs improvement, or poor"],
    [[504, 696], "Poor"],
    [[0, 10_000], "Undecided"],
    [[0, 496], "Good, or needs improvement"],
  ] as const)("between %j ms is rated: %s", (interval, rating) => {
    expect(webVitalRating(interval, WEB_VITALS_THRESHOLDS.INP)).toBe(rating);
  });

  it("has bins that end at the thresholds, or just above", () => {
    for (const question of webVitalsTask.questions) {
      const { name, edges } = question;
      const half = "step" in question ? question.step / 2 : 0;
      for (const threshold of WEB_VITALS_THRESHOLDS[name]) {
        const above = edges.find((edge) => edge >= threshold) ?? Number.NaN;
        expect(above - threshold).toBeLessThanOrEqual(half);
      }
    }
    const names = webVitalsTask.questions.map(({ name }) => name);
    expect(names).toEqual(Object.keys(WEB_VITALS_THRESHOLDS));
  });
});
