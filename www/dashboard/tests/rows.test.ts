import { describe, expect, it } from "vitest";
import type { Estimate, EstimatesResponse } from "../api.js";
import { estimatesPath, itemsToRequest, MAX_ALL_ITEMS } from "../estimates-cache.js";
import { formatAsRanges, formatNumber, itemName, itemQueryName } from "../labels.js";
import { type EstimateRow, estimandRows, matchesSearch, ORDERS, sortedRows } from "../rows.js";

function estimate(value: number, half: number): Estimate {
  return {
    estimate: value,
    interval: [value - half / 2, value + half / 2],
    simultaneous_interval: [value - half, value + half],
  };
}

const row = (label: string, value: number, half: number): EstimateRow => ({
  label,
  queryName: label,
  estimate: estimate(value, half),
});

const ROWS = [row("b10", 0.2, 0.1), row("b9", -0.3, 0.05), row("a", 0.25, 0.3)];
const labels = (rows: readonly EstimateRow[]) => rows.map(({ label }) => label);

describe("rows", () => {
  it.each([
    ["largest", ["a", "b10", "b9"]],
    ["smallest", ["b9", "b10", "a"]],
    // These differ from 0 by 6, 2 and less than 1 half-widths of their intervals.
    ["clearest", ["b9", "b10", "a"]],
    ["name", ["a", "b9", "b10"]],
    ["task", ["b10", "b9", "a"]],
  ] as const)("are sorted: %s", (order, expected) => {
    expect(labels(sortedRows(ROWS, order))).toEqual(expected);
  });

  it("are all there in every order, and what was sorted stays as it was", () => {
    for (const order of ORDERS) expect(sortedRows(ROWS, order)).toHaveLength(3);
    expect(labels(ROWS)).toEqual(["b10", "b9", "a"]);
  });

  it("where few people hide on one side count by the side that points to 0", () => {
    const lopsided = {
      ...ROWS[0],
      estimate: { ...estimate(0.2, 0.1), simultaneous_interval: [0.19, 5] as const },
    } as EstimateRow;
    expect(sortedRows([ROWS[1] as EstimateRow, lopsided], "clearest")[0]).toBe(lopsided);
  });

  it("are of the estimand that is wanted, or of the first that there is", () => {
    const answer: EstimatesResponse = {
      reports: 1,
      confidence: 0.95,
      estimates: [{ item: "x", mean: estimate(0.1, 1), plus: estimate(0.4, 1) }],
    };
    expect(estimandRows(answer, {}, "plus")?.rows[0]?.estimate.estimate).toBe(0.4);
    expect(estimandRows(answer, {}, "share")?.estimand).toBe("mean");
    expect(estimandRows({ ...answer, estimates: [] }, {})).toBeNull();
  });

  it("of several numbers have the range of each", () => {
    const answer = {
      reports: 1,
      confidence: 0.95,
      estimates: [{ item: "width", unit: "px", mean: estimate(9, 1) }],
    };
    const question = { kind: "numbers", of: [{ name: "width", min: 0, max: 40 }] };
    expect(estimandRows(answer, question)?.rows[0]).toMatchObject({
      valueRange: [0, 40],
      unit: "px",
    });
  });

  it("are found by all words of a name, in whatever case", () => {
    expect(matchesSearch("Dark mode, at night", "NIGHT dark")).toBe(true);
    expect(matchesSearch("Dark mode", "dark day")).toBe(false);
    expect(matchesSearch("anything", "")).toBe(true);
  });
});

describe("labels", () => {
  it("name items, bins and cells", () => {
    expect(itemName("a")).toBe("a");
    expect(itemName(7)).toBe("7");
    expect(itemName({ from: 50, to: 60_000 })).toBe("50 to 60,000");
    expect(itemName({ plan: "pro", wait: { from: 0, to: 1.5 } })).toBe("plan: pro, wait: 0 to 1.5");
  });

  it("are asked for as the collector names them, or not at all", () => {
    expect(itemQueryName({ plan: "pro", theme: "dark" })).toBe("plan: pro, theme: dark");
    expect(itemQueryName({ from: 0, to: 1 })).toBeNull();
    expect(itemQueryName({ plan: "pro", wait: { from: 0, to: 2000 } })).toBeNull();
    expect(itemQueryName({ plan: "pro", rating: 1.5 })).toBeNull();
  });

  it("print three digits, and all before the point", () => {
    expect([0, 0.12345, -1.5, 123.4, 12_345.6].map(formatNumber)).toEqual([
      "0",
      "0.123",
      "−1.5",
      "123",
      "12,346",
    ]);
  });

  it("join numbers that follow each other", () => {
    expect(formatAsRanges([3, 1, 2, 7, 9, 10])).toBe("1–3, 7, 9–10");
    expect(formatAsRanges([])).toBe("");
  });
});

describe("what is asked", () => {
  it("is all of a question, unless there is too much of it", () => {
    expect(itemsToRequest({ options: ["a", "b"] }, "a")).toBeNull();
    expect(itemsToRequest({ kind: "flag" }, "")).toBeNull();
    expect(itemsToRequest({ options: MAX_ALL_ITEMS }, "7")).toBeNull();
    const some = itemsToRequest({ options: 1_000_000 }, "");
    expect(some).toHaveLength(200);
    expect(itemsToRequest({ options: 1_000_000 }, "99999")).toContain("999990");
    const many = Array.from({ length: MAX_ALL_ITEMS + 1 }, (_, index) => `item ${index}`);
    expect(itemsToRequest({ items: many }, "ITEM 4711")).toEqual(["item 4711"]);
  });

  it("is what is written where there is no list", () => {
    expect(itemsToRequest({ items: "open" }, " dark mode ,x,")).toEqual(["dark mode", "x"]);
    expect(itemsToRequest({ items: "open" }, "")).toEqual([]);
  });

  it("fits into an address, however long names are", () => {
    const names = Array.from({ length: MAX_ALL_ITEMS + 1 }, (_, index) => "é".repeat(200) + index);
    const asked = itemsToRequest({ items: names }, "") ?? [];
    expect(asked.length).toBeGreaterThan(0);
    expect(
      estimatesPath("t", {}, { batches: null, confidence: 0.95, items: asked }).length,
    ).toBeLessThan(9000);
  });

  it("is encoded part by part", () => {
    const asked = { batches: "1,3-4", confidence: 1 - 0.05 / 3, items: ["a,b", "c&d"] };
    expect(estimatesPath("a/b", { name: "q=1" }, asked)).toBe(
      "a%2Fb/estimates?confidence=0.983333333333&question=q%3D1&batches=1,3-4&items=a%2Cb,c%26d",
    );
  });
});
