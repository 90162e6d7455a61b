// A chart of the distribution of a number, with intervals and the truth. The upper part has the
// share of people below each edge. The lower part has the quantiles, on the same horizontal axis.

import { byId, setAttributes, svg } from "../../shared/dom.js";
import { formatCount, formatPercent } from "../../shared/format.js";
import { type ChartAxis, type ChartRow, rowInWords, rowTableCells } from "../chart.js";
import { setChartText } from "../figure.js";

/** Rows of the chart: one for each edge and one for each quantile. */
export interface DistributionRows {
  /** Share of people below each edge, except for the two ends of the range. */
  readonly sharesBelow: readonly ChartRow[];
  /** Quantiles, in the unit of the number. */
  readonly quantiles: readonly ChartRow[];
}

/** Horizontal axis, which shows the values of a number. */
export interface NumberScale {
  /** Edges of the bins, positive and ascending. The axis is logarithmic. */
  readonly edges: readonly number[];
  readonly unit: string;
}

const SHARE_AXIS: ChartAxis = { from: -0.1, to: 1.1, ticks: [0, 0.25, 0.5, 0.75, 1] };
const [LEFT, RIGHT, HEAD, PLOT, FOOT, PITCH] = [44, 20, 12, 220, 44, 52];
/** Minimum distance in px between the labels of two edges. */
const MIN_LABEL_DISTANCE = 44;

type AxisPositionFunction = (value: number) => number;

export class DistributionChart {
  readonly #id: string;
  readonly #chart: SVGSVGElement;
  readonly #scale: NumberScale;
  #rows: DistributionRows = { sharesBelow: [], quantiles: [] };

  /** Creates a chart in the SVG element with this id. */
  constructor(id: string, scale: NumberScale) {
    this.#id = id;
    this.#chart = byId<SVGSVGElement>(id);
    this.#scale = scale;
    new ResizeObserver(() => this.#draw()).observe(this.#chart);
  }

  show(rows: DistributionRows, title: string): void {
    const said = (value: number) => formatWithUnit(value, this.#scale.unit);
    this.#rows = rows;
    setChartText(this.#id, {
      title,
      sentences: [
        ...rows.quantiles.map((row) => rowInWords(row, said)),
        ...rows.sharesBelow.map((row) => rowInWords(row)),
      ],
      cells: [
        ...rows.quantiles.map((row) => quantileRowCells(row, said)),
        ...rows.sharesBelow.map(rowTableCells),
      ],
    });
    this.#draw();
  }

  #draw(): void {
    const width = this.#chart.clientWidth;
    const { sharesBelow: below, quantiles } = this.#rows;
    if (width === 0 || below.length === 0) return;
    const { edges } = this.#scale;
    const base = HEAD + PLOT;
    const height = base + FOOT + quantiles.length * PITCH;
    const [least = 1, greatest = 1] = [edges[0], edges[edges.length - 1]];
    const x: AxisPositionFunction = (value) =>
      LEFT + (Math.log(value / least) / Math.log(greatest / least)) * (width - LEFT - RIGHT);
    const y: AxisPositionFunction = (share) => {
      const { from, to } = SHARE_AXIS;
      return base - ((Math.min(Math.max(share, from), to) - from) / (to - from)) * PLOT;
    };
    setAttributes(this.#chart, { viewBox: `0 0 ${width} ${height}`, height });
    this.#chart.replaceChildren(
      // Keep the title and the description.
      ...[...this.#chart.children].slice(0, 2),
      this.#drawGrid(x, y, height),
      ...below.map((row, index) => drawShareBelowEdge(row, x(edges[index + 1] ?? 1), y)),
      ...quantiles.map((row, index) => this.#drawQuantile(row, x, base + FOOT + index * PITCH)),
    );
  }

  #drawGrid(x: AxisPositionFunction, y: AxisPositionFunction, height: number): SVGGElement {
    const { edges, unit } = this.#scale;
    const [left, right] = [x(edges[0] ?? 1), x(edges[edges.length - 1] ?? 1)];
    const base = HEAD + PLOT;
    const line = (name: string, [x1, y1]: NumberPair, [x2, y2]: NumberPair) =>
      svg("line", { class: name, x1, y1, x2, y2 });
    const beyond = (from: number, to: number) =>
      svg("rect", {
        class: "beyond",
        x: left,
        width: right - left,
        y: y(to),
        height: y(from) - y(to),
      });
    return svg(
      "g",
      { class: "grid" },
      beyond(SHARE_AXIS.from, 0),
      beyond(1, SHARE_AXIS.to),
      ...SHARE_AXIS.ticks.flatMap((tick) => [
        line(tick === 0 ? "zero" : "tick", [left, y(tick)], [right, y(tick)]),
        svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, formatPercent(tick)),
      ]),
      ...spacedEdges(edges, x).flatMap((edge) => [
        line("tick", [x(edge), base], [x(edge), height]),
        svg("text", { x: x(edge), y: base + 16, "text-anchor": "middle" }, formatCount(edge)),
      ]),
      svg("text", { x: right, y: base + 32, "text-anchor": "end" }, `in ${unit}`),
    );
  }

  #drawQuantile(row: ChartRow, x: AxisPositionFunction, top: number): SVGGElement {
    const { label, truth, estimate, interval } = row;
    const middle = top + 32;
    const right = this.#chart.clientWidth - RIGHT;
    const marks = [
      ...(truth === null
        ? []
        : [drawErrorBarRect("truth-end", [x(truth) - 1.5, 3], [middle - 13, 26], false)]),
      ...(estimate === null || !interval
        ? []
        : drawErrorBar({ estimate, interval }, x, middle, false)),
    ];
    const amount = svg(
      "tspan",
      { class: "amount" },
      estimate === null ? "–" : formatCount(estimate),
    );
    const span = interval ? `${formatCount(interval[0])} to ${formatCount(interval[1])}` : "";
    const spread = svg("tspan", { class: "spread", dx: 6 }, span);
    return svg(
      "g",
      { class: "quantile" },
      ...marks,
      svg("text", { x: 0, y: top + 14 }, label),
      svg("text", { x: right, y: top + 14, "text-anchor": "end" }, amount, spread),
    );
  }
}

type NumberPair = readonly [number, number];

/** Formats a number with its unit: 1,830 ms. */
export function formatWithUnit(value: number, unit: string): string {
  return `${formatCount(value)} ${unit}`;
}

/** Returns those edges that can be labelled without overlaps. */
function spacedEdges(edges: readonly number[], x: AxisPositionFunction): number[] {
  const named: number[] = [];
  for (const edge of edges) {
    const last = named[named.length - 1];
    if (last === undefined || x(edge) - x(last) >= MIN_LABEL_DISTANCE) named.push(edge);
  }
  return named;
}

/**
 * Draws the share of people below an edge: a mark for the truth, and the estimate with its error
 * bar. `middle` is the horizontal position.
 */
function drawShareBelowEdge(row: ChartRow, middle: number, y: AxisPositionFunction): SVGGElement {
  const { truth, estimate, interval } = row;
  const group = svg("g", {});
  if (truth !== null) {
    group.append(drawErrorBarRect("truth-end", [y(truth) - 1.5, 3], [middle - 8, 16], true));
  }
  if (estimate !== null && interval) {
    group.append(...drawErrorBar({ estimate, interval }, y, middle, true));
  }
  return group;
}

/**
 * Draws an interval with its caps and its estimate along one axis, at position `middle` of the
 * other axis. The bar is vertical if `upright`.
 */
function drawErrorBar(
  { estimate, interval }: { estimate: number; interval: NumberPair },
  place: AxisPositionFunction,
  middle: number,
  upright: boolean,
): SVGElement[] {
  const ends = interval.map(place).sort((a, b) => a - b);
  const [low = 0, high = 0] = ends;
  const at = place(estimate);
  // A small dot does not cover a narrow interval.
  const r = Math.min(Math.max((high - low) / 6, 2.5), 5);
  // A value outside of the axis gets no mark, because a mark at the edge would look like its end.
  const inside = (value: number) =>
    !upright || (SHARE_AXIS.from <= value && value <= SHARE_AXIS.to);
  const cap = (end: number) =>
    drawErrorBarRect("cap", [place(end) - 1, 2], [middle - 5, 10], upright);
  const centre = upright ? { cx: middle, cy: at } : { cx: at, cy: middle };
  return [
    drawErrorBarRect("interval", [low, high - low], [middle - 1.5, 3], upright),
    ...interval.filter(inside).map(cap),
    ...(inside(estimate) ? [svg("circle", { class: "estimate", r, ...centre })] : []),
  ];
}

/**
 * Draws a rectangle as part of an error bar. `along` has its start and length in the direction of
 * the bar. `across` has its start and length in the other direction.
 */
function drawErrorBarRect(
  name: string,
  along: NumberPair,
  across: NumberPair,
  upright: boolean,
): SVGRectElement {
  const [[x, width], [y, height]] = upright ? [across, along] : [along, across];
  return svg("rect", { class: name, x, y, width, height });
}

function quantileRowCells(row: ChartRow, said: (value: number) => string): string[] {
  const { label, truth, estimate, interval } = row;
  const [known, estimated] = [truth, estimate].map((value) => (value === null ? "–" : said(value)));
  const span = interval ? `${formatCount(interval[0])} to ${said(interval[1])}` : "–";
  return [label, known ?? "–", estimated ?? "–", "–", span];
}
