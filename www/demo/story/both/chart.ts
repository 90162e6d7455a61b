// The chart of the chapter on both ways: the truth and two estimates of each item. Each estimate
// has its own lane, and both lanes have the same scale.

import type { BothEstimate, BothEstimates, Estimate } from "../../shared/analysis.js";
import { byId, setAttributes, svg } from "../../shared/dom.js";
import { setChartText } from "../figure.js";
import { formatWithUnit, numberLabel } from "./task.js";

const ROW_HEAD_HEIGHT = 28;
/** Heights of a lane in px, on wide and on narrow screens. A narrow lane has its text above. */
const LANE_HEIGHTS = { wide: 26, narrow: 40 };
const GAP = 14;
const MIN_WIDE_WIDTH = 560;

export class BothWaysChart {
  readonly #chart = byId<SVGSVGElement>("both-chart");
  readonly #rowsGroup = svg("g");
  #shownEstimates: BothEstimates | null = null;

  constructor() {
    this.#chart.append(this.#rowsGroup);
    new ResizeObserver(() => this.#draw()).observe(this.#chart);
  }

  show(found: BothEstimates | null, title: string): void {
    this.#shownEstimates = found;
    const items = found?.items ?? [];
    setChartText("both-chart", {
      title,
      sentences:
        items.length === 0 ? ["No one has been asked yet."] : items.map(numberEstimatesInWords),
      cells: items.map(numberTableCells),
    });
    this.#draw();
  }

  #draw(): void {
    const width = this.#chart.clientWidth;
    const items = this.#shownEstimates?.items ?? [];
    if (width === 0) return;
    const row = ROW_HEAD_HEIGHT + 2 * laneHeight(width) + GAP;
    setAttributes(this.#chart, { viewBox: `0 0 ${width} ${items.length * row}` });
    setAttributes(this.#chart, { height: items.length * row });
    const rows = items.map((own, index) => drawNumberRow(own, width, index * row));
    this.#rowsGroup.replaceChildren(...rows);
  }
}

const laneHeight = (width: number) =>
  width >= MIN_WIDE_WIDTH ? LANE_HEIGHTS.wide : LANE_HEIGHTS.narrow;

/**
 * Returns half the width of a number's scale. The scale is centred on the truth and is wide enough
 * for both intervals.
 */
function scaleHalfRange({ truth, local, shuffled }: BothEstimate): number {
  const ends = [local, shuffled].flatMap((own) => [own.estimate, ...own.simultaneous_interval]);
  return 1.08 * Math.max(...ends.map((end) => Math.abs(end - truth)));
}

function drawNumberRow(own: BothEstimate, width: number, top: number): SVGGElement {
  const { item, unit, range, truth, local, shuffled } = own;
  const [wide, height] = [width >= MIN_WIDE_WIDTH, laneHeight(width)];
  const [left, right] = [wide ? 84 : 8, width - (wide ? 150 : 8)];
  const reach = scaleHalfRange(own);
  const x = (value: number) => left + ((value - truth + reach) / (2 * reach)) * (right - left);
  const lane = (name: string, estimate: Estimate, kind: string, at: number) => {
    const y = top + ROW_HEAD_HEIGHT + (at + 1) * height - LANE_HEIGHTS.wide / 2;
    const [from, to] = estimate.simultaneous_interval.map(x) as [number, number];
    const shown = formatWithUnit(estimate.estimate, range, unit);
    const cap = (end: number) =>
      svg("rect", { class: "cap", x: end - 1, y: y - 6, width: 2, height: 12 });
    return svg(
      "g",
      { class: "lane", "data-way": kind },
      svg("rect", { class: "interval", x: from, y: y - 1.5, width: to - from, height: 3 }),
      cap(from),
      cap(to),
      kind === "local"
        ? svg("circle", { class: "estimate", cx: x(estimate.estimate), cy: y, r: 5 })
        : svg("path", { class: "estimate", d: diamond(x(estimate.estimate), y) }),
      // A narrow picture has the name and the value above the lane.
      ...(wide
        ? [
            svg("text", { class: "lane-name", x: left - 12, y: y + 4, "text-anchor": "end" }, name),
            svg("text", { class: "value", x: width, y: y + 4, "text-anchor": "end" }, shown),
          ]
        : [svg("text", { class: "lane-name", x: left, y: y - 12 }, `${name}: ${shown}`)]),
    );
  };
  const said = svg(
    "text",
    { class: "label", x: 0, y: top + 16 },
    svg("tspan", { class: "amount" }, numberLabel(item)),
    svg("tspan", { class: "spread", dx: 8 }, `truth ${formatWithUnit(truth, range, unit)}`),
  );
  return svg(
    "g",
    {},
    svg("rect", {
      class: "truth-end",
      x: x(truth) - 1,
      y: top + ROW_HEAD_HEIGHT - 4,
      width: 2,
      height: 2 * height + 8,
    }),
    lane("local", local, "local", 0),
    lane("shuffler", shuffled, "shuffler", 1),
    said,
  );
}

const diamond = (x: number, y: number) =>
  `M${x} ${y - 6}L${x + 6} ${y}L${x} ${y + 6}L${x - 6} ${y}Z`;

function intervalInWords(
  { simultaneous_interval }: Estimate,
  words: (value: number) => string,
): string {
  const [from, to] = simultaneous_interval;
  return `${words(from)} to ${words(to)}`;
}

function numberEstimatesInWords({
  item,
  unit,
  range,
  truth,
  local,
  shuffled,
}: BothEstimate): string {
  const words = (value: number) => formatWithUnit(value, range, unit);
  return `${numberLabel(item)}: truth ${words(truth)}; local estimate ${words(local.estimate)}, interval ${intervalInWords(local, words)}; shuffled estimate ${words(shuffled.estimate)}, interval ${intervalInWords(shuffled, words)}.`;
}

function numberTableCells({ item, unit, range, truth, local, shuffled }: BothEstimate): string[] {
  const words = (value: number) => formatWithUnit(value, range, unit);
  const both = [local, shuffled].flatMap((own) => [
    words(own.estimate),
    intervalInWords(own, words),
  ]);
  return [numberLabel(item), words(truth), ...both];
}
