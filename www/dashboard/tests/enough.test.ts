import { describe, expect, it } from "vitest";
import { enough, enoughOfNumber } from "../enough.js";

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
    const found = enough(reports, "share", [told(error / 2), told(error, 2.16)]);
    expect(found.shown).toBe(shown);
    expect(found.words).toMatch(
      /^\d+ reports? (has|have) arrived\. Estimates with an error of at most 10 percentage points need/,
    );
    expect(found.words).toContain(reports === 1 ? "1 report has arrived" : `${reports} reports`);
    if (reports > 1) expect(found.words).toMatch(/ need about 3[56]0 reports, with/);
  });

  it("are not said of enough, of sums and of no items", () => {
    for (const rows of [
      [told(0.05)],
      [],
      [{ estimate: { ...told(1).estimate, standard_error: 0 } }],
    ])
      expect(enough(1000, "share", rows)).toEqual({ shown: true });
  });

  it("are told by the range of means", () => {
    expect(enough(50, "mean", [told(0.1)])).toEqual({ shown: true });
    const far = enough(50, "mean", [{ ...told(30), range: [0, 100] }]);
    expect(far.shown).toBe(false);
    expect(far.words).toMatch(
      /^50 reports have arrived\. .* a tenth of the range need about 1,700 /,
    );
  });

  it("are told of numbers by the mean or by shares below edges", () => {
    const answer = { reports: 20, confidence: 0.95, estimates: [] };
    const range = [0, 10] as const;
    const mean = enoughOfNumber({ ...answer, number: { range, mean: told(6).estimate } });
    expect(mean.shown).toBe(false);
    const distribution = [{ ...told(0.1).estimate, below: 5 }];
    const shares = enoughOfNumber({ ...answer, number: { range, distribution } });
    expect(shares.shown).toBe(true);
    expect(shares.words).toContain("10 percentage points");
  });
});
