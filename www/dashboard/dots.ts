// Estimates as a table. One column shows each estimate as a dot with its intervals.

import { el, svg } from "../demo/shared/dom.js";
import type { Estimate } from "./api.js";
import { shareTickText, tickText } from "./labels.js";
import { type EstimandRows, type EstimateRow, intervalText, unitSuffix } from "./rows.js";
import { axisContaining, type ChartAxis, percentAttribute, positionOnAxis } from "./scale.js";
import { excludesZero } from "./significance.js";
import { createTable, type TableCell } from "./table.js";

const HEIGHT = 28;

/**
 * Draws a picture that consists of these marks. It is hidden from screen readers, because the table
 * has the same numbers.
 */
function ariaHiddenPicture(style: string, height: number, ...marks: Element[]): SVGSVGElement {
  return svg("svg", { class: style, height, width: "100%", "aria-hidden": "true" }, ...marks);
}

const verticalLine = (style: string, x: number, y1: number, y2: number | string) =>
  svg("line", { class: style, x1: percentAttribute(x), x2: percentAttribute(x), y1, y2 });

/** Draws a vertical line at each tick of the axis. The line at 0 has a separate style. */
export function tickLines(axis: ChartAxis): SVGElement[] {
  return axis.ticks.map((value) =>
    verticalLine(value === 0 ? "zero" : "tick", positionOnAxis(axis, value), 0, "100%"),
  );
}

/** Draws the labels of the axis, which stand above the column of pictures. */
function axisLabels(axis: ChartAxis, words: (value: number) => string): SVGSVGElement {
  const texts = axis.ticks.map((value) => {
    const x = positionOnAxis(axis, value);
    const anchor = x < 6 ? "start" : x > 94 ? "end" : "middle";
    return svg("text", { x: percentAttribute(x), y: 13, "text-anchor": anchor }, words(value));
  });
  return ariaHiddenPicture("scale", 18, ...texts);
}

/**
 * Draws an estimate as a dot with two bars. The thick bar is the interval for this estimate alone.
 * The thin bar is the simultaneous interval, which holds for all rows at once.
 */
export function drawEstimateMarks(axis: ChartAxis, estimate: Estimate): SVGElement[] {
  const y = HEIGHT / 2;
  const line = (style: string, [from, to]: readonly [number, number]) =>
    svg("line", {
      class: style,
      x1: percentAttribute(positionOnAxis(axis, from)),
      x2: percentAttribute(positionOnAxis(axis, to)),
      y1: y,
      y2: y,
    });
  const dot = svg("circle", {
    class: "dot",
    cx: percentAttribute(positionOnAxis(axis, estimate.estimate)),
    cy: y,
    r: 4.5,
  });
  return [line("together", estimate.simultaneous_interval), line("alone", estimate.interval), dot];
}

/**
 * Returns the CSS class of a picture with a dot. The dot of an estimate that may be noise is
 * hollow.
 */
export const stripClassBySignificance = (estimate: Estimate): string =>
  excludesZero(estimate) ? "strip" : "strip noise";

function axisForRows(rows: readonly EstimateRow[]): ChartAxis {
  const ends = rows.flatMap(({ estimate }) => [
    estimate.estimate,
    ...estimate.simultaneous_interval,
  ]);
  return axisContaining(ends);
}

/**
 * Draws a table of the rows in `shown`, with a picture of each estimate. `rows` says how numbers
 * are formatted.
 */
export function dotTable(
  caption: string,
  rows: EstimandRows,
  shown: readonly EstimateRow[],
): HTMLTableElement {
  const own = shown.some(({ valueRange: range }) => range !== undefined);
  const axis = axisForRows(shown);
  const scale = own
    ? "each row has its own scale"
    : axisLabels(axis, rows.areShares ? shareTickText : tickText);
  const heads: readonly (TableCell | string)[] = [
    "Item",
    {
      content: el("span", {}, el("span", { class: "unseen" }, "Chart"), scale),
      style: "picture",
    },
    { content: "Estimate", style: "amount" },
    { content: "Simultaneous interval", style: "amount" },
  ];
  const cells = shown.map((row) => dotTableCells(row, rows.format, axis));
  return createTable(caption, heads, cells, "dots");
}

function dotTableCells(
  row: EstimateRow,
  format: EstimandRows["format"],
  common: ChartAxis,
): (TableCell | string)[] {
  const { label, estimate, valueRange: range, unit } = row;
  const axis = range === undefined ? common : { from: range[0], to: range[1], ticks: [...range] };
  const style = range === undefined ? stripClassBySignificance(estimate) : "strip";
  const marks = ariaHiddenPicture(
    style,
    HEIGHT,
    ...tickLines(axis),
    ...drawEstimateMarks(axis, estimate),
  );
  return [
    { content: label, style: "name" },
    { content: marks, style: "picture" },
    { content: format(estimate.estimate, estimate) + unitSuffix(unit), style: "amount estimated" },
    { content: intervalText(row, format), style: "amount interval" },
  ];
}
