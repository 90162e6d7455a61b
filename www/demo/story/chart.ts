// A chart of estimates, with intervals and the truth, and a table of the same numbers. The
// SVG has the pixel width of its element.

import { byId, setAttributes, svg } from "../shared/dom.js";
import { formatHalfWidth, formatPercent } from "../shared/format.js";
import { setChartText } from "./figure.js";

/** Row of the chart: an item, its true share and its estimate. Unknown values are null. */
export interface ChartRow {
  readonly label: string;
  readonly truth: number | null;
  readonly estimate: number | null;
  readonly standardError: number | null;
  readonly interval: readonly [number, number] | null;
}

/** Range and ticks of the horizontal axis. */
export interface ChartAxis {
  readonly from: number;
  readonly to: number;
  readonly ticks: readonly number[];
}

/** Axis for shares of people. Estimates can be below 0 or above 1. */
export const SHARE_AXIS: ChartAxis = { from: -0.2, to: 1.2, ticks: [0, 0.25, 0.5, 0.75, 1] };
/** Axis for the share of yes minus the share of no. */
export const YES_MINUS_NO_AXIS: ChartAxis = { from: -1.2, to: 1.2, ticks: [-1, -0.5, 0, 0.5, 1] };

/**
 * Returns whether an estimate is lost in noise: its interval contains 0 and has a half-width of 5
 * percentage points or more. A narrower interval around 0 is an answer, namely that the share is
 * about 0.
 */
export function isLostInNoise({ estimate, interval }: ChartRow): boolean {
  if (estimate === null || interval === null) return false;
  const [from, to] = interval;
  return to - from >= 0.1 && from <= 0 && to >= 0;
}

interface RowMarks {
  readonly group: SVGGElement;
  readonly label: SVGTextElement;
  readonly value: SVGTextElement;
  readonly halfWidthText: SVGTSpanElement;
  readonly estimateText: SVGTSpanElement;
  readonly truth: SVGRectElement;
  readonly truthEndLine: SVGRectElement;
  readonly interval: SVGRectElement;
  readonly caps: readonly [SVGRectElement, SVGRectElement];
  readonly dot: SVGCircleElement;
}

const MIN_WIDE_WIDTH = 640;
const TOP_MARGIN = 26;
const BOTTOM_MARGIN = 12;

export class EstimateChart {
  readonly #id: string;
  readonly #chart: SVGSVGElement;
  readonly #grid = svg("g", { class: "grid" });
  readonly #rowsGroup = svg("g");
  #rows: readonly ChartRow[] = [];
  #axis: ChartAxis = SHARE_AXIS;
  #marks: RowMarks[] = [];

  /** Creates a chart in the SVG element with this id. */
  constructor(id: string) {
    this.#id = id;
    this.#chart = byId<SVGSVGElement>(id);
    this.#chart.append(this.#grid, this.#rowsGroup);
    new ResizeObserver(() => this.#draw()).observe(this.#chart);
  }

  show(rows: readonly ChartRow[], axis: ChartAxis, title: string): void {
    this.#rows = rows;
    this.#axis = axis;
    setChartText(this.#id, {
      title,
      sentences: rows.map((row) => rowInWords(row)),
      cells: rows.map(rowTableCells),
    });
    this.#draw();
  }

  #draw(): void {
    const width = this.#chart.clientWidth;
    if (width === 0 || this.#rows.length === 0) return;
    const wide = width >= MIN_WIDE_WIDTH;
    const left = wide ? 158 : 12;
    const right = width - (wide ? 118 : 12);
    const pitch = wide ? 46 : 62;
    const height = TOP_MARGIN + this.#rows.length * pitch + BOTTOM_MARGIN;
    const x = (share: number) => {
      const { from, to } = this.#axis;
      const held = Math.min(Math.max(share, from), to);
      return left + ((held - from) / (to - from)) * (right - left);
    };
    setAttributes(this.#chart, { viewBox: `0 0 ${width} ${height}`, height });
    this.#drawGrid(x, left, right, height);
    this.#ensureMarks();
    this.#rows.forEach((row, index) => {
      const marks = this.#marks[index];
      if (!marks) return;
      const top = TOP_MARGIN + index * pitch;
      const middle = top + (wide ? pitch / 2 : pitch - 20);
      placeMarks(marks, row, x, middle);
      setAttributes(marks.label, {
        x: wide ? left - 14 : left,
        y: wide ? middle + 5 : middle - 20,
      });
      setAttributes(marks.label, { "text-anchor": wide ? "end" : "start" });
      setAttributes(marks.value, {
        x: wide ? width - 6 : right,
        y: wide ? middle + 5 : middle - 20,
      });
    });
  }

  #drawGrid(x: (share: number) => number, left: number, right: number, height: number): void {
    const { ticks, from, to } = this.#axis;
    const [lowest = 0, highest = 1] = [ticks[0], ticks[ticks.length - 1]];
    const bottom = height - BOTTOM_MARGIN + 4;
    const band = (a: number, b: number) =>
      svg("rect", {
        class: "beyond",
        x: x(a),
        width: x(b) - x(a),
        y: TOP_MARGIN,
        height: bottom - TOP_MARGIN,
      });
    this.#grid.replaceChildren(
      band(from, lowest),
      band(highest, to),
      ...ticks.flatMap((tick) => [
        svg("line", {
          class: tick === 0 ? "zero" : "tick",
          x1: x(tick),
          x2: x(tick),
          y1: TOP_MARGIN - 4,
          y2: bottom,
        }),
        svg(
          "text",
          { x: x(tick), y: TOP_MARGIN - 10, "text-anchor": "middle" },
          formatPercent(tick),
        ),
      ]),
      svg("line", { class: "tick", x1: left, x2: right, y1: bottom, y2: bottom }),
    );
  }

  #ensureMarks(): void {
    if (this.#marks.length === this.#rows.length) return;
    this.#marks = this.#rows.map(createRowMarks);
    this.#rowsGroup.replaceChildren(...this.#marks.map(({ group }) => group));
  }
}

function createRowMarks({ label }: ChartRow): RowMarks {
  const estimateText = svg("tspan", { class: "amount" });
  const halfWidthText = svg("tspan", { class: "spread", dx: 6 });
  const marks = {
    label: svg("text", { class: "label" }, label),
    value: svg("text", { class: "value", "text-anchor": "end" }, estimateText, halfWidthText),
    estimateText,
    halfWidthText,
    truth: svg("rect", { class: "truth-bar", height: 16 }),
    truthEndLine: svg("rect", { class: "truth-end", width: 3, height: 26 }),
    interval: svg("rect", { class: "interval", height: 3 }),
    caps: [
      svg("rect", { class: "cap", width: 2, height: 14 }),
      svg("rect", { class: "cap", width: 2, height: 14 }),
    ] as const,
    dot: svg("circle", { class: "estimate" }),
  };
  const group = svg(
    "g",
    { class: "row" },
    marks.truth,
    marks.truthEndLine,
    marks.interval,
    ...marks.caps,
    marks.dot,
    marks.label,
    marks.value,
  );
  return { group, ...marks };
}

function placeMarks(
  marks: RowMarks,
  row: ChartRow,
  x: (share: number) => number,
  middle: number,
): void {
  const { truth, estimate, interval } = row;
  const known = truth !== null;
  const bar = known ? [Math.min(truth, 0), Math.max(truth, 0)] : [0, 0];
  const [low = 0, high = 0] = bar.map(x);
  setAttributes(marks.truth, {
    x: low,
    width: high - low,
    y: middle - 8,
    visibility: visibility(known),
  });
  setAttributes(marks.truthEndLine, {
    x: x(truth ?? 0) - 1.5,
    y: middle - 13,
    visibility: visibility(known),
  });

  const estimated = estimate !== null && interval !== null;
  const [from, to] = interval ?? [0, 0];
  setAttributes(marks.group, { "data-noise": isLostInNoise(row) });
  setAttributes(marks.interval, {
    x: x(from),
    width: x(to) - x(from),
    y: middle - 1.5,
    visibility: visibility(estimated),
  });
  // A cap marks an end of the interval. An interval that leaves the axis has no cap there.
  [from, to].forEach((end, side) => {
    const cap = marks.caps[side];
    const at = x(end);
    const inside = estimated && Math.abs(x(end + (side ? 1e-6 : -1e-6)) - at) > 0;
    if (cap) setAttributes(cap, { x: at - 1, y: middle - 7, visibility: visibility(inside) });
  });
  // A small dot does not cover a narrow interval.
  const radius = Math.min(Math.max((x(to) - x(from)) / 6, 2.5), 6);
  setAttributes(marks.dot, {
    cx: x(estimate ?? 0),
    cy: middle,
    r: radius,
    visibility: visibility(estimated),
  });
  marks.estimateText.textContent = estimated ? formatPercent(estimate) : "–";
  marks.halfWidthText.textContent = estimated ? formatHalfWidth((to - from) / 2) : "";
}

function visibility(visible: boolean): "visible" | "hidden" {
  return visible ? "visible" : "hidden";
}

/** Describes a row in words. `said` formats its values, by default as percentages. */
export function rowInWords(row: ChartRow, said: (value: number) => string = formatPercent): string {
  const { label, truth, estimate, interval } = row;
  if (estimate === null || interval === null) return `${label}: no estimate yet.`;
  const against = truth === null ? "" : `, truth ${said(truth)}`;
  const noise = isLostInNoise(row) ? ", noise" : "";
  return `${label}: estimate ${said(estimate)}, interval ${said(interval[0])} to ${said(interval[1])}${against}${noise}.`;
}

/** Returns the table cells for a row, with its values as percentages. */
export function rowTableCells(row: ChartRow): string[] {
  const { label, truth, estimate, standardError, interval } = row;
  const numbers = [truth, estimate, standardError].map((value) =>
    value === null ? "–" : formatPercent(value, 1),
  );
  const noise = isLostInNoise(row) ? " (noise)" : "";
  const span =
    interval && `${formatPercent(interval[0], 1)} to ${formatPercent(interval[1], 1)}${noise}`;
  return [label, ...numbers, span ?? "–"];
}
