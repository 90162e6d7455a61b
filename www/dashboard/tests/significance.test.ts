import { describe, expect, it } from "vitest";
import type { Batch, Estimate, EstimatesResponse } from "../api.js";
import { horizontalPositionInBins } from "../histogram.js";
import { parseUploadCounts } from "../metrics.js";
import { epsilonText } from "../panels.js";
import type { EstimateRow } from "../rows.js";
import { axisContaining, positionOnAxis } from "../scale.js";
import {
  areDisjoint,
  confidencePerBatchOfTwo,
  excludesZero,
  significantChanges,
  significantRows,
} from "../significance.js";
import { previousAndLatestBatch } from "../significance-view.js";
import { DEFAULT_STATE, viewStateFromFragment, viewStateToFragment } from "../state.js";
import { confidencePerBatch, itemTimeLines, numberTimeLines } from "../timeline.js";

/**
 * Makes an estimate from its simultaneous interval. The interval for this estimate alone is a tenth
 * as wide.
 */
const between = (from: number, to: number): Estimate => ({
  estimate: (from + to) / 2,
  interval: [(from + to) / 2 - (to - from) / 20, (from + to) / 2 + (to - from) / 20],
  simultaneous_interval: [from, to],
});
const row = (label: string, from: number, to: number): EstimateRow => ({
  label,
  queryName: label,
  estimate: between(from, to),
});

describe("what stands out", () => {
  it("is what lies clear of 0 together with all others, the farthest first", () => {
    const rows = [
      row("near", 0.01, 0.5),
      row("noise", -0.1, 0.4),
      row("below", -0.5, -0.2),
      row("touches", 0, 1),
    ];
    expect(significantRows(rows).map(({ label }) => label)).toEqual(["below", "near"]);
    // Its interval for this estimate alone does exclude 0.
    expect((rows[1] as EstimateRow).estimate.interval[0]).toBeGreaterThan(0);
    expect(excludesZero(between(0, 1))).toBe(false);
  });

  it("is what changed beyond both intervals, what moved most first", () => {
    const before = [row("a", 0, 0.2), row("b", 0, 0.2), row("c", 0.5, 0.6), row("gone", 0, 1)];
    const after = [row("a", 0.1, 0.3), row("b", 0.3, 0.4), row("c", 0, 0.1), row("new", 0, 1)];
    expect(significantChanges(before, after).map(({ label }) => label)).toEqual(["c", "b"]);
    expect(areDisjoint([0, 1], [1, 2])).toBe(false);
  });

  it("shares what may fail between those that have to hold together", () => {
    expect(2 * (1 - confidencePerBatchOfTwo(0.95))).toBeCloseTo(0.05, 12);
    expect(24 * (1 - confidencePerBatch(24, 0.95))).toBeCloseTo(0.05, 12);
    expect(confidencePerBatch(0, 0.95)).toBeCloseTo(0.95, 12);
  });

  it("is of the latest selected batch and the one released before it", () => {
    const batch = (number: number): Batch => ({
      number,
      state: "released",
      reports: 1,
      opened: 0,
    });
    const released = [batch(1), batch(3), batch(4)];
    const numbers = (selected: readonly Batch[]) =>
      previousAndLatestBatch({ selectedBatches: selected, releasedBatches: released })?.map(
        ({ number }) => number,
      );
    expect(numbers(released)).toEqual([3, 4]);
    expect(numbers([batch(3)])).toEqual([1, 3]);
    expect(numbers([batch(1)])).toBeUndefined();
    expect(numbers([])).toBeUndefined();
  });
});

describe("the time line", () => {
  const answer = (own: Partial<EstimatesResponse>): EstimatesResponse => ({
    reports: 1,
    confidence: 0.95,
    estimates: [],
    ...own,
  });

  it("goes through what each batch says, and leaves out what it does not say", () => {
    const answers = [
      [1, answer({ estimates: [{ item: "a", share: between(0, 1) }] })],
      [2, answer({})],
      [
        5,
        answer({
          estimates: [
            { item: "a", share: between(1, 2) },
            { item: "b", share: between(0, 0) },
          ],
        }),
      ],
    ] as const;
    const [line, other] = itemTimeLines(["a", "b"], "share", answers);
    expect(line?.points.map(({ batch, estimate }) => [batch, estimate?.estimate])).toEqual([
      [1, 0.5],
      [2, undefined],
      [5, 1.5],
    ]);
    expect(other?.points.filter(({ estimate }) => estimate !== null)).toHaveLength(1);
  });

  it("of a number is of its mean, or of each quantile", () => {
    const range = [0, 9] as const;
    const mean = [[1, answer({ number: { range, unit: "ms", mean: between(1, 3) } })]] as const;
    expect(numberTimeLines({ name: "load" }, mean).map(({ label }) => label)).toEqual([
      "mean of load (ms)",
    ]);
    const quantiles = [0.5, 0.95].map((quantile) => ({ quantile, ...between(quantile, 2) }));
    const lines = numberTimeLines({}, [
      [1, answer({})],
      [2, answer({ number: { range, quantiles } })],
    ]);
    expect(lines.map(({ label }) => label)).toEqual(["median", "95% quantile"]);
    expect(lines[1]?.points.map(({ estimate }) => estimate?.estimate)).toEqual([undefined, 1.475]);
  });
});

describe("axes", () => {
  it("hold what is drawn, with round ticks", () => {
    const axis = axisContaining([-0.13, 0.41]);
    expect(axis.ticks).toEqual([0, 0.2, 0.4]);
    expect(positionOnAxis(axis, -0.13)).toBeGreaterThan(0);
    expect(positionOnAxis(axis, 0.41)).toBeLessThan(100);
    expect(positionOnAxis(axis, 9)).toBe(100);
    expect(axisContaining([]).ticks).toEqual([0]);
    expect(axisContaining([5, 5], { zero: false }).ticks).toEqual([5]);
    expect(Math.min(...axisContaining([1000, 1010], { zero: false }).ticks)).toBeGreaterThan(990);
  });

  it("of bins that are drawn equally wide say where a number lies among them", () => {
    const bins = [
      { from: 0, to: 10 },
      { from: 10, to: 100 },
    ];
    expect(
      [-1, 0, 5, 10, 55, 100, 200].map((value) => horizontalPositionInBins(bins, value)),
    ).toEqual([0, 0, 25, 50, 75, 100, 100]);
  });
});

it("an address keeps what is in view, and nothing that has no meaning", () => {
  const state = {
    ...DEFAULT_STATE,
    task: "a b",
    question: "q&r",
    batches: "1,3-4",
    order: "name",
    find: "é",
  } as const;
  expect(viewStateFromFragment(viewStateToFragment(state))).toEqual(state);
  expect(viewStateToFragment(DEFAULT_STATE)).toBe("");
  expect(viewStateFromFragment("#tasks")).toEqual(DEFAULT_STATE);
  expect(viewStateFromFragment("#task=t&batches=x&order=sideways&estimand=all")).toEqual({
    ...DEFAULT_STATE,
    task: "t",
  });
});

it("rejected uploads are told by reason, and other problems are not", () => {
  const text = [
    "# TYPE hushbin_uploads_accepted counter",
    "hushbin_uploads_accepted_total 12",
    "hushbin_uploads_duplicate_total 3",
    'hushbin_problems_total{problem="too-large"} 1',
    'hushbin_problems_total{problem="unauthorized"} 9',
    'hushbin_problems_total{problem="malformed-upload"} 4',
  ].join("\n");
  expect(parseUploadCounts(text)).toEqual({
    accepted: 12,
    duplicates: 3,
    rejected: [
      ["not an upload of this task", 4],
      ["upload too large", 1],
    ],
  });
  expect(parseUploadCounts("").rejected).toEqual([]);
});

it("a privacy loss is rounded up", () => {
  expect([1, 0.98765, 0.012341, 2.0001, 0.1 + 0.2].map(epsilonText)).toEqual([
    "1",
    "0.988",
    "0.0124",
    "2.01",
    "0.3",
  ]);
});
