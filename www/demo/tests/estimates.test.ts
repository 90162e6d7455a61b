import { describe, expect, it } from "vitest";
import {
  formatCount,
  formatCountRoundedUp,
  formatCountWithNoun,
  formatEpsilonLowerBound,
  formatHalfWidth,
  formatLossSixDecimals,
  formatPercent,
  formatThreeDigits,
} from "../shared/format.js";
import { isLostInNoise } from "../story/chart.js";
import type { Estimate, EstimatesResponse } from "../story/collector.js";
import { comparisonText, type MechanismErrorBarWidth, meanHalfWidth } from "../story/comparison.js";
import { estimateChartRows, estimatesVerdict } from "../story/estimates.js";
import { questionsOf } from "../story/questions.js";

function estimate(value: number, half: number): Estimate {
  return {
    estimate: value,
    standard_error: half / 2.7,
    interval: [value - half / 1.4, value + half / 1.4],
    simultaneous_interval: [value - half, value + half],
  };
}

function answer(value: number, half: number, reports = 1000): EstimatesResponse {
  const each = estimate(value, half);
  return {
    task: "t",
    fingerprint: "",
    reports,
    confidence: 0.95,
    privacy: { epsilon: 2, effective_epsilon: 2, statement: "" },
    estimates: ["dark-mode", "other"].map((item) => ({
      item,
      plus: each,
      minus: each,
      mean: each,
      nonmissing: each,
    })),
  };
}

const questions = questionsOf(["dark-mode", "other"]);
const truth = { people: 1000, yes: [500, 100], no: [250, 300] };

describe("rows of the chart", () => {
  it("put the truth of each estimand beside its estimate", () => {
    const truths = (["plus", "minus", "mean", "nonmissing"] as const).map((estimand) =>
      estimateChartRows(questions, answer(0.5, 0.1), truth, estimand).map((row) => row.truth),
    );
    expect(truths).toEqual([
      [0.5, 0.1],
      [0.25, 0.3],
      [0.25, -0.2],
      [0.75, 0.4],
    ]);
  });

  it("are empty before the first report", () => {
    const none = { ...answer(0, 0), reports: 0, estimates: [] };
    const rows = estimateChartRows(questions, none, { people: 0, yes: [0, 0], no: [0, 0] }, "plus");
    expect(rows.every((row) => row.truth === null && row.estimate === null)).toBe(true);
    expect(estimatesVerdict(rows, 0, true)).toMatch(/no reports yet/);
  });
});

describe("the verdict", () => {
  const verdict = (value: number, half: number, comparable = true) =>
    estimatesVerdict(
      estimateChartRows(questions, answer(value, half), truth, "plus"),
      1000,
      comparable,
    );

  it("calls noise noise", () => {
    expect(verdict(0.3, 0.5)).toMatch(/all answers are noise/);
    expect(verdict(0.3, 0.5)).toMatch(/About 25,000 reports/);
  });

  it("counts intervals that hold the truth, when it is the truth of all reports", () => {
    expect(verdict(0.5, 0.08)).toMatch(/inside 1 of 2/);
    expect(verdict(0.5, 0.08, false)).not.toMatch(/inside/);
    expect(verdict(0.5, 0.08)).toMatch(/no answer is lost/);
  });

  it("reads intervals that reach farther to one side", () => {
    const row = { label: "", truth: null, standardError: 0.1, estimate: 0.3 };
    expect(isLostInNoise({ ...row, interval: [0.05, 0.9] })).toBe(false);
    expect(isLostInNoise({ ...row, interval: [-0.05, 0.5] })).toBe(true);
  });

  it("takes a narrow interval around nothing for an answer", () => {
    const [row] = estimateChartRows(questions, answer(0.01, 0.04), truth, "plus");
    expect(row && isLostInNoise(row)).toBe(false);
  });
});

describe("numbers", () => {
  it("read as people write them", () => {
    expect(formatCount(12345)).toBe("12,345");
    expect([formatCountWithNoun(1, "report"), formatCountWithNoun(2, "report")]).toEqual([
      "1 report",
      "2 reports",
    ]);
    expect([formatPercent(-0.123), formatPercent(-0.001), formatPercent(0.5, 1)]).toEqual([
      "−12%",
      "0%",
      "50.0%",
    ]);
    expect([formatHalfWidth(0.072), formatHalfWidth(0.25), formatHalfWidth(12)]).toEqual([
      "±7.2",
      "±25",
      "±1,200",
    ]);
    expect(formatThreeDigits(7.389)).toBe("7.39");
    expect([formatLossSixDecimals(1.9999999999), formatLossSixDecimals(1.00000001)]).toEqual([
      "2",
      "1.000001",
    ]);
    expect([formatEpsilonLowerBound(0.9269), formatEpsilonLowerBound(1.85)]).toEqual([
      "0.926",
      "1.850",
    ]);
    expect([formatCountRoundedUp(6013), formatCountRoundedUp(7)]).toEqual(["6,100", "7"]);
  });
});

describe("error bars side by side", () => {
  const width = (
    name: string,
    reports: number,
    half: number | null,
    chosen = false,
  ): MechanismErrorBarWidth => ({
    name,
    epsilonScopeText: `what ${name} covers`,
    protectsSingleAnswersOnly: name === "W",
    reports,
    halfWidth: half,
    chosen,
  });

  it("are the mean's simultaneous intervals, averaged", () => {
    expect(meanHalfWidth(answer(0.3, 0.12))).toBeCloseTo(0.12, 12);
    expect(meanHalfWidth({ ...answer(0.3, 0.12), reports: 0 })).toBeNull();
    expect(meanHalfWidth(null)).toBeNull();
  });

  it("are compared only at equal numbers of reports", () => {
    const a = width("A", 500, 0.2, true);
    expect(comparisonText([a, width("B", 500, 0.25), width("C", 500, 0.1)])).toBe(
      "500 reports for each mechanism: under A the error bars are 20% narrower than under B and 100% wider than under C.",
    );
    expect(comparisonText([a, width("W", 500, 0.1)])).toMatch(
      /wider than under W\. W promises less: its ε covers what W covers\.$/,
    );
    expect(comparisonText([a, width("B", 500, 0.2001)])).toMatch(/are as wide as under B/);
    expect(comparisonText([a, width("B", 400, 0.25)])).toMatch(/different numbers/);
    expect(comparisonText([a, width("B", 500, 0.25), width("C", 0, null)])).toMatch(/different/);
    expect(comparisonText([a, width("B", 0, null)])).toMatch(
      /other mechanisms have no reports yet/,
    );
    expect(comparisonText([width("A", 0, null, true), width("B", 9, 1)])).toMatch(
      /no reports under/,
    );
  });
});
