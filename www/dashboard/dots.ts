// Estimates as a table. A column between names and numbers draws each as a dot with its intervals.

import { el, svg } from "../demo/shared/dom.js";
import type { Estimate } from "./api.js";
import { shareTick, tick } from "./labels.js";
import { clearOfZero } from "./outstanding.js";
import { behind, type Row, type Rows, spread } from "./rows.js";
import { type Axis, at, axisOf, place } from "./scale.js";
import { type Cell, table } from "./table.js";

const HEIGHT = 28;

/**
 * Draws a picture from marks. It is hidden from screen readers, because the table has the same
 * numbers.
 */
function strip(style: string, height: number, ...marks: Element[]): SVGSVGElement {
  return svg("svg", { class: style, height, width: "100%", "aria-hidden": "true" }, ...marks);
}

const upright = (style: string, x: number, y1: number, y2: number | string) =>
  svg("line", { class: style, x1: at(x), x2: at(x), y1, y2 });

/** Draws a line at each tick of the axis. The line at 0 has a separate style. */
export function grid(axis: Axis): SVGElement[] {
  return axis.ticks.map((value) =>
    upright(value === 0 ? "zero" : "tick", place(axis, value), 0, "100%"),
  );
}

/** Draws the labels of the axis's ticks above the column of pictures. */
function scaleOf(axis: Axis, words: (value: number) => string): SVGSVGElement {
  const texts = axis.ticks.map((value) => {
    const x = place(axis, value);
    const anchor = x < 6 ? "start" : x > 94 ? "end" : "middle";
    return svg("text", { x: at(x), y: 13, "text-anchor": anchor }, words(value));
  });
  return strip("scale", 18, ...texts);
}

/**
 * Draws an estimate. The thick bar is the interval for this estimate alone. The thin bar is the
 * simultaneous interval, which is valid for all rows at once.
 */
export function bars(axis: Axis, estimate: Estimate): SVGElement[] {
  const y = HEIGHT / 2;
  const line = (style: string, [from, to]: readonly [number, number]) =>
    svg("line", { class: style, x1: at(place(axis, from)), x2: at(place(axis, to)), y1: y, y2: y });
  const dot = svg("circle", {
    class: "dot",
    cx: at(place(axis, estimate.estimate)),
    cy: y,
    r: 4.5,
  });
  return [line("together", estimate.simultaneous_interval), line("alone", estimate.interval), dot];
}

/** Returns the style of a dot. A dot that may be noise is hollow. */
export const styleOf = (estimate: Estimate): string =>
  clearOfZero(estimate) ? "strip" : "strip noise";

function axisFor(rows: readonly Row[]): Axis {
  const ends = rows.flatMap(({ estimate }) => [
    estimate.estimate,
    ...estimate.simultaneous_interval,
  ]);
  return axisOf(ends);
}

/** Draws a table of the rows in `shown`. */
export function dots(caption: string, rows: Rows, shown: readonly Row[]): HTMLTableElement {
  const own = shown.some(({ range }) => range !== undefined);
  const axis = axisFor(shown);
  const scale = own ? "each row has its own scale" : scaleOf(axis, rows.shares ? shareTick : tick);
  const heads: readonly (Cell | string)[] = [
    "Item",
    {
      shown: el("span", {}, el("span", { class: "unseen" }, "Chart"), scale),
      style: "picture",
    },
    { shown: "Estimate", style: "amount" },
    { shown: "Simultaneous interval", style: "amount" },
  ];
  const cells = shown.map((row) => cellsOf(row, rows.words, axis));
  return table(caption, heads, cells, "dots");
}

function cellsOf(row: Row, words: Rows["words"], common: Axis): (Cell | string)[] {
  const { label, estimate, range, unit } = row;
  const axis = range === undefined ? common : { from: range[0], to: range[1], ticks: [...range] };
  const style = range === undefined ? styleOf(estimate) : "strip";
  const marks = strip(style, HEIGHT, ...grid(axis), ...bars(axis, estimate));
  return [
    { shown: label, style: "name" },
    { shown: marks, style: "picture" },
    { shown: words(estimate.estimate, estimate) + behind(unit), style: "amount estimated" },
    { shown: spread(row, words), style: "amount interval" },
  ];
}
