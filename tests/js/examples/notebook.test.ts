/** The notebook, with reports of people whose true answers are known. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { notebookToolsFolder } from "../../../www/scripts/lib/notebook-tools.mjs";
import { TARGET } from "../../../www/scripts/lib/paths.mjs";
import { Example } from "./harness.js";

/** True shares in both halves, as in `people.mjs`. */
const TRUTH: Readonly<Record<string, readonly [number, number]>> = {
  system: [0.5, 0.5],
  light: [0.3, 0.22],
  dark: [0.19, 0.27],
  contrast: [0.01, 0.01],
};

let example: Example;

beforeAll(async () => {
  const python = notebookToolsFolder();
  example = await Example.withPackages("www/examples/notebook", {
    PYTHONPATH: python,
    PATH: [join(python, "bin"), join(TARGET, "debug"), process.env.PATH].join(delimiter),
    // The packages of the README's command are installed already, or the test fails. So Debian's
    // Python stays unchanged.
    PIP_NO_INDEX: "1",
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    PIP_ROOT_USER_ACTION: "ignore",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
  });
  await example.follow();
});
afterAll(() => example?.close());

type Row = Readonly<Record<string, string>>;

/** Rows of CSV by item. */
function rows(csv: string): Map<string, Row> {
  const [head = "", ...lines] = csv.trim().split("\n");
  const names = head.split(",");
  const cells = lines.map((line) => line.split(","));
  const all = cells.map((own): Row => Object.fromEntries(own.map((cell, i) => [names[i], cell])));
  return new Map(all.map((row) => [row.item ?? "", row]));
}

const file = (name: string) => readFileSync(join(example.folder, name), "utf8");

/** Returns a number of a table. */
const of = (table: Map<string, Row>, item: string, column: string) =>
  Number(table.get(item)?.[column] ?? "nothing");

it("combines batches to what the program says of them together", () => {
  const options = { cwd: example.folder, encoding: "utf8" } as const;
  const args = ["estimate", "reports.parquet", "--question", "theme", "--format", "csv"];
  const together = rows(execFileSync(join(TARGET, "debug/hushbin"), args, options));
  const combined = rows(file("combined.csv"));
  expect([...combined.keys()]).toEqual(Object.keys(TRUTH));
  for (const item of combined.keys()) {
    const [estimate, error] = ["estimate", "standard_error"].map((name) =>
      of(combined, item, name),
    );
    expect(estimate, item).toBeCloseTo(of(together, item, "estimate"), 12);
    // The program's own error is for both batches together, which is nearly the same.
    const ratio = Number(error) / of(together, item, "standard_error");
    expect(Math.abs(ratio - 1), item).toBeLessThan(0.01);
  }
});

it("compares releases with the error of a difference", () => {
  const [before, after] = [rows(file("theme-1.csv")), rows(file("theme-2.csv"))];
  const differences = rows(file("differences.csv"));
  for (const [item, [was, is]] of Object.entries(TRUTH)) {
    const at = (column: string) => of(differences, item, column);
    const error = Math.hypot(of(before, item, "standard_error"), of(after, item, "standard_error"));
    const moved = of(after, item, "estimate") - of(before, item, "estimate");
    expect(at("estimate"), item).toBeCloseTo(moved, 12);
    expect(at("standard_error")).toBeCloseTo(error, 12);
    // The normal quantile of 1 - 0.05 / (2 * 4).
    expect(at("simultaneous_upper") - at("estimate")).toBeCloseTo(2.497705474 * error, 9);
    expect(at("estimate") - at("simultaneous_lower")).toBeCloseTo(2.497705474 * error, 9);
    // Exceeded by chance once in five hundred million times.
    expect(Math.abs(at("estimate") - (is - was)) / error, item).toBeLessThan(6);
  }
});

it("draws what it has computed", () => {
  const { cells } = JSON.parse(file("estimates.ipynb")) as {
    cells: { id: string; outputs?: { output_type: string; data?: Record<string, string> }[] }[];
  };
  const drawn = cells.filter(({ outputs = [] }) => outputs.some(({ data }) => data?.["image/png"]));
  expect(drawn.map(({ id }) => id)).toEqual(["draw", "draw-differences"]);
});

it("is kept without what it has put out", async () => {
  const { cells, nbformat, nbformat_minor } = JSON.parse(
    readFileSync(
      join(import.meta.dirname, "../../../www/examples/notebook/estimates.ipynb"),
      "utf8",
    ),
  );
  expect([nbformat, nbformat_minor]).toEqual([4, 5]);
  for (const { cell_type, outputs, execution_count } of cells) {
    if (cell_type === "code") {
      expect({ outputs, execution_count }).toEqual({ outputs: [], execution_count: null });
    }
  }
});
