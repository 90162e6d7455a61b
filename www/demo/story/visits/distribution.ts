// A chart of the distribution of a number, with intervals and the truth. The upper part has the
// share of people below each edge. The lower part has the quantiles, on the same horizontal axis.

import { byId, setAll, svg } from "../../shared/dom.js";
import { count, percent } from "../../shared/format.js";
import { type Axis, cells, type Row, sentence } from "../chart.js";
import { describeChart } from "../figure.js";

/** Rows of the chart: one for each edge and one for each quantile. */
export interface NumberRows {
  /** Share of people below each edge that lies inside the range. */
  readonly below: readonly Row[];
  /** Quantiles, in the unit of the number. */
  readonly quantiles: readonly Row[];
}

/** Edges and unit of the number's horizontal axis. */
export interface Scale {
  /** Edges of the bins, positive and ascending. The axis is logarithmic. */
  readonly edges: readonly number[];
  readonly unit: string;
}

const SHARES: Axis = { from: -0.1, to: 1.1, ticks: [0, 0.25, 0.5, 0.75, 1] };
const [LEFT, RIGHT, HEAD, PLOT, FOOT, PITCH] = [44, 20, 12, 220, 44, 52];
/** Minimum distance in px between the labels of two edges. */
const APART = 44;

type Place = (value: number) => number;

export class Distribution {
  readonly #id: string;
  readonly #chart: SVGSVGElement;
  readonly #scale: Scale;
  #rows: NumberRows = { below: [], quantiles: [] };

  /** Creates a chart in the SVG element with this id. */
  constructor(id: string, scale: Scale) {
    this.#id = id;
    this.#chart = byId<SVGSVGElement>(id);
    this.#scale = scale;
    new ResizeObserver(() => this.#draw()).observe(this.#chart);
  }

  show(rows: NumberRows, title: string): void {
    const said = (value: number) => inUnit(value, this.#scale.unit);
    this.#rows = rows;
    describeChart(this.#id, {
      title,
      sentences: [
        ...rows.quantiles.map((row) => sentence(row, said)),
        ...rows.below.map((row) => sentence(row)),
      ],
      cells: [...rows.quantiles.map((row) => quantileCells(row, said)), ...rows.below.map(cells)],
    });
    this.#draw();
  }

  #draw(): void {
    const width = this.#chart.clientWidth;
    const { below, quantiles } = this.#rows;
    if (width === 0 || below.length === 0) return;
    const { edges } = this.#scale;
    const base = HEAD + PLOT;
    const height = base + FOOT + quantiles.length * PITCH;
    const [least = 1, greatest = 1] = [edges[0], edges[edges.length - 1]];
    const x: Place = (value) =>
      LEFT + (Math.log(value / least) / Math.log(greatest / least)) * (width - LEFT - RIGHT);
    const y: Place = (share) => {
      const { from, to } = SHARES;
      return base - ((Math.min(Math.max(share, from), to) - from) / (to - from)) * PLOT;
    };
    setAll(this.#chart, { viewBox: `0 0 ${width} ${height}`, height });
    this.#chart.replaceChildren(
      // Keep the title and the description.
      ...[...this.#chart.children].slice(0, 2),
      this.#grid(x, y, height),
      ...below.map((row, index) => share(row, x(edges[index + 1] ?? 1), y)),
      ...quantiles.map((row, index) => this.#quantile(row, x, base + FOOT + index * PITCH)),
    );
  }

  #grid(x: Place, y: Place, height: number): SVGGElement {
    const { edges, unit } = this.#scale;
    const [left, right] = [x(edges[0] ?? 1), x(edges[edges.length - 1] ?? 1)];
    const base = HEAD + PLOT;
    const line = (name: string, [x1, y1]: Point, [x2, y2]: Point) =>
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
      beyond(SHARES.from, 0),
      beyond(1, SHARES.to),
      ...SHARES.ticks.flatMap((tick) => [
        line(tick === 0 ? "zero" : "tick", [left, y(tick)], [right, y(tick)]),
        svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, percent(tick)),
      ]),
      ...spaced(edges, x).flatMap((edge) => [
        line("tick", [x(edge), base], [x(edge), height]),
        svg("text", { x: x(edge), y: base + 16, "text-anchor": "middle" }, count(edge)),
      ]),
      svg("text", { x: right, y: base + 32, "text-anchor": "end" }, `in ${unit}`),
    );
  }

  #quantile(row: Row, x: Place, top: number): SVGGElement {
    const { label, truth, estimate, interval } = row;
    const middle = top + 32;
    const right = this.#chart.clientWidth - RIGHT;
    const marks = [
      ...(truth === null ? [] : [box("truth-end", [x(truth) - 1.5, 3], [middle - 13, 26], false)]),
      ...(estimate === null || !interval ? [] : errorBar({ estimate, interval }, x, middle, false)),
    ];
    const amount = svg("tspan", { class: "amount" }, estimate === null ? "–" : count(estimate));
    const span = interval ? `${count(interval[0])} to ${count(interval[1])}` : "";
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

type Point = readonly [number, number];

/** Formats a number with its unit: 1,830 ms. */
export function inUnit(value: number, unit: string): string {
  return `${count(value)} ${unit}`;
}

/** Returns those edges that can be labelled without overlaps. */
function spaced(edges: readonly number[], x: Place): number[] {
  const named: number[] = [];
  for (const edge of edges) {
    const last = named[named.length - 1];
    if (last === undefined || x(edge) - x(last) >= APART) named.push(edge);
  }
  return named;
}

/**
 * Draws the share of people below an edge: a mark for the truth, and the estimate with its error
 * bar. `middle` is the horizontal position.
 */
function share(row: Row, middle: number, y: Place): SVGGElement {
  const { truth, estimate, interval } = row;
  const group = svg("g", {});
  if (truth !== null) {
    group.append(box("truth-end", [y(truth) - 1.5, 3], [middle - 8, 16], true));
  }
  if (estimate !== null && interval) {
    group.append(...errorBar({ estimate, interval }, y, middle, true));
  }
  return group;
}

/**
 * Draws an interval with its caps and its estimate along one axis, at position `middle` of the
 * other axis. The bar is vertical if `upright`.
 */
function errorBar(
  { estimate, interval }: { estimate: number; interval: Point },
  place: Place,
  middle: number,
  upright: boolean,
): SVGElement[] {
  const ends = interval.map(place).sort((a, b) => a - b);
  const [low = 0, high = 0] = ends;
  const at = place(estimate);
  // A small dot does not cover a narrow interval.
  const r = Math.min(Math.max((high - low) / 6, 2.5), 5);
  // A value outside of the axis gets no mark, because a mark at the edge would look like its end.
  const inside = (value: number) => !upright || (SHARES.from <= value && value <= SHARES.to);
  const cap = (end: number) => box("cap", [place(end) - 1, 2], [middle - 5, 10], upright);
  const centre = upright ? { cx: middle, cy: at } : { cx: at, cy: middle };
  return [
    box("interval", [low, high - low], [middle - 1.5, 3], upright),
    ...interval.filter(inside).map(cap),
    ...(inside(estimate) ? [svg("circle", { class: "estimate", r, ...centre })] : []),
  ];
}

/**
 * Draws a rectangle. `along` has its start and length along the error bar, `across` those on the
 * other axis.
 */
function box(name: string, along: Point, across: Point, upright: boolean): SVGRectElement {
  const [[x, width], [y, height]] = upright ? [across, along] : [along, across];
  return svg("rect", { class: name, x, y, width, height });
}

function quantileCells(row: Row, said: (value: number) => string): string[] {
  const { label, truth, estimate, interval } = row;
  const [known, estimated] = [truth, estimate].map((value) => (value === null ? "–" : said(value)));
  const span = interval ? `${count(interval[0])} to ${said(interval[1])}` : "–";
  return [label, known ?? "–", estimated ?? "–", "–", span];
}
