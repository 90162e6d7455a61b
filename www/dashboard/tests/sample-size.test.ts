import { describe, expect, it } from "vitest";
import { checkNumberSampleSize, checkSampleSize } from "../sample-size.js";

const told = (standard_error: number, value = 0) => ({
  estimate: {
    estimate: value,
    standard_error,
    interval: [0, 1] as const,
    simultaneous_interval: [0, 1] as const,
  },
});

describe("reports that are too few", () => {
  // The share of a yes-or-no question at ε = 1 has a variance of 0.92 for one report.
  it.each([
    [1, 1.92, false],
    [10, 0.303, false],
    [100, 0.096, true],
  ])("%d are said, with how many are needed", (reports, error, shown) => {
    const found = checkSampleSize(reports, "share", [told(error / 2), told(error, 2.16)]);
    expect(found.isUseful).toBe(shown);
    expect(found.warning).toMatch(
      /^\d+ reports? (has|have) arrived\. Estimates with an error of at most 10 percentage points need/,
    );
    expect(found.warning).toContain(reports === 1 ? "1 report has arrived" : `${reports} reports`);
    if (reports > 1) expect(found.warning).toMatch(/ need about 3[56]0 reports, with/);
  });

  it("are not said of enough, of sums and of no items", () => {
    for (const rows of [
      [told(0.05)],
      [],
      [{ estimate: { ...told(1).estimate, standard_error: 0 } }],
    ])
      expect(checkSampleSize(1000, "share", rows)).toEqual({ isUseful: true });
  });

  it("are told by the range of means", () => {
    expect(checkSampleSize(50, "mean", [told(0.1)])).toEqual({ isUseful: true });
    const far = checkSampleSize(50, "mean", [{ ...told(30), valueRange: [0, 100] }]);
    expect(far.isUseful).toBe(false);
    expect(far.warning).toMatch(
      /^50 reports have arrived\. .* a tenth of the range need about 1,700 /,
    );
  });

  it("are told of numbers by the mean or by shares below edges", () => {
    const answer = { reports: 20, confidence: 0.95, estimates: [] };
    const range = [0, 10] as const;
    const mean = checkNumberSampleSize({ ...answer, number: { range, mean: told(6).estimate } });
    expect(mean.isUseful).toBe(false);
    const distribution = [{ ...told(0.1).estimate, below: 5 }];
    const shares = checkNumberSampleSize({ ...answer, number: { range, distribution } });
    expect(shares.isUseful).toBe(true);
    expect(shares.warning).toContain("10 percentage points");
  });
});
