// The view of the estimates for a number: its mean, its histogram, the shares of people below
// edges, and its quantiles.

import { displayedName } from "../client/displayed-name.js";
import { el, svg } from "../demo/shared/dom.js";
import type { Estimate, EstimatesResponse, NumberEstimates, Question } from "./api.js";
import {
  formatNumber,
  itemName,
  shareText,
  shareTickText,
  shareToErrorPrecision,
} from "./labels.js";
import { unitSuffix } from "./rows.js";
import { axisContaining, type ChartAxis, percentAttribute, positionOnAxis } from "./scale.js";
import { collapsedTable, createTable } from "./table.js";
import { quantileName } from "./timeline.js";
import { webVitalView } from "./web-vitals.js";

const HEIGHT = 200;
/** Width in per cent of the space at the left, which has the labels of the vertical axis. */
const LEFT_GUTTER_PERCENT = 9;

/**
 * Converts a position in the plot to a position in the whole width, which includes this space. Both
 * are in per cent.
 */
const plotToFullPosition = (part: number) =>
  LEFT_GUTTER_PERCENT + (part * (100 - LEFT_GUTTER_PERCENT)) / 100;

/**
 * Maximum number of bins whose intervals are drawn, as thin lines called whiskers. With more bins,
 * the whiskers would overlap.
 */
const MAX_BINS_WITH_WHISKERS = 80;

interface HistogramBin {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly share: Estimate;
}

/**
 * Returns the bins of a number, each with its edges and its estimated share of people. The share of
 * people without a number is not among them.
 */
function histogramBins(answer: EstimatesResponse): readonly HistogramBin[] {
  return answer.estimates.flatMap(({ item, share: own }) => {
    if (own === undefined || typeof item !== "object") return [];
    const { from, to } = item as { readonly from: number; readonly to: number };
    return { label: itemName(item), from, to, share: own };
  });
}

/**
 * Returns the horizontal position of a number, in per cent, in a plot that draws all bins equally
 * wide.
 */
export function horizontalPositionInBins(
  bins: readonly Pick<HistogramBin, "from" | "to">[],
  value: number,
): number {
  const found = bins.findIndex(({ to }) => value < to);
  const index = found === -1 ? bins.length - 1 : found;
  const bin = bins[index];
  if (bin === undefined) return 0;
  const within = Math.min(Math.max((value - bin.from) / (bin.to - bin.from), 0), 1);
  return ((index + within) / bins.length) * 100;
}

/** Draws the estimates for a number: its mean, a table of quantiles, and a plot with a table. */
export function numberView(answer: EstimatesResponse, question: Question): readonly Element[] {
  const { number } = answer;
  if (number === undefined) return [];
  const unit = unitSuffix(number.unit);
  const bins = histogramBins(answer);
  const together = `with ${answer.confidence * 100}% confidence`;
  const shown: Element[] = [];
  if (number.mean) {
    const [from, to] = number.mean.interval;
    const text = `${formatNumber(from)} to ${formatNumber(to)}${unit} ${together}`;
    shown.push(
      el(
        "p",
        { class: "figure" },
        el("strong", {}, formatNumber(number.mean.estimate) + unit),
        " on average, ",
        el("span", { class: "soft" }, text),
      ),
    );
  }
  shown.push(...webVitalView(number, question, unit));
  if (number.quantiles?.length) shown.push(quantileTable(number, unit));
  const without = answer.estimates.find(({ item }) => typeof item === "string")?.share;
  if (without !== undefined) {
    const ends = without.interval.map(shareText).join(" to ");
    shown.push(
      el(
        "p",
        { class: "figure" },
        el("strong", {}, shareText(without.estimate)),
        " of people have no number, and count for no quantile, ",
        el("span", { class: "soft" }, `${ends} ${together}`),
      ),
    );
  }
  // The mechanism pattern estimates shares below edges well, and shares of single bins badly.
  const drawn =
    question.mechanism?.name === "pattern" ? cumulativeSharePlot(bins, number) : binSharePlot(bins);
  if (bins.length > 1)
    shown.push(...sharePlotAndTable(drawn, bins, number, question, unit, together));
  return shown;
}

function quantileTable({ quantiles = [], range }: NumberEstimates, unit: string): Element {
  // If the interval is the whole range, nothing is known, perhaps because no person has a number.
  const rows = quantiles.map(({ quantile, estimate, simultaneous_interval: [from, to] }) => [
    quantileName(quantile),
    {
      content: from === range[0] && to === range[1] ? "unknown" : formatNumber(estimate) + unit,
      style: "amount estimated",
    },
    { content: `${formatNumber(from)} to ${formatNumber(to)}${unit}`, style: "amount interval" },
  ]);
  const heads = [
    "Quantile",
    { content: "Estimate", style: "amount" },
    { content: "Simultaneous interval", style: "amount" },
  ];
  return createTable("Quantiles", heads, rows);
}

/**
 * Shares that a plot shows, and how they are drawn. Each share also has a row in the table below
 * the plot.
 */
interface SharePlot {
  readonly plotTitleForQuestion: (name: string) => string;
  readonly shares: readonly Estimate[];
  readonly labels: readonly string[];
  readonly drawMarks: (axis: ChartAxis) => Element[];
}

function binSharePlot(bins: readonly HistogramBin[]): SharePlot {
  return {
    plotTitleForQuestion: (name) => `Share of people by bin of ${name}`,
    shares: bins.map((bin) => bin.share),
    labels: bins.map(({ label }) => label),
    drawMarks: (axis) => bins.flatMap((bin, index) => drawBin(bin, index, bins.length, axis)),
  };
}

function cumulativeSharePlot(
  bins: readonly HistogramBin[],
  { distribution = [] }: NumberEstimates,
): SharePlot {
  return {
    plotTitleForQuestion: (name) => `Share of people below each ${name}`,
    shares: distribution,
    labels: distribution.map(({ below }) => `below ${formatNumber(below)}`),
    drawMarks: (axis) =>
      distribution.flatMap((own, index) =>
        drawShareDot(own, ((index + 1) / bins.length) * 100, axis),
      ),
  };
}

function sharePlotAndTable(
  { plotTitleForQuestion: title, shares, labels, drawMarks: marks }: SharePlot,
  bins: readonly HistogramBin[],
  number: NumberEstimates,
  question: Question,
  unit: string,
  together: string,
): readonly Element[] {
  const name = question.name === undefined ? "the number" : displayedName(question.name);
  const axis = axisContaining(
    shares.flatMap((own) => [own.estimate, ...own.simultaneous_interval]),
  );
  const quantiles = number.quantiles ?? [];
  const text = quantiles.map(
    (own) => `${quantileName(own.quantile)} ${formatNumber(own.estimate)}${unit}`,
  );
  const plot = svg(
    "svg",
    {
      class: "histogram",
      role: "img",
      height: HEIGHT + 24,
      width: "100%",
      "aria-label": `${[title(name), ...text].join(", ")}. The table below has the numbers.`,
    },
    svg(
      "svg",
      { class: "marks", height: HEIGHT, width: "100%" },
      ...gridLines(axis),
      ...marks(axis),
      ...quantiles.flatMap((own) =>
        drawQuantileLine(plotToFullPosition(horizontalPositionInBins(bins, own.estimate))),
      ),
    ),
    ...edgeLabels(bins),
  );
  const rows = shares.map((own, index) => {
    const { estimate, simultaneous_interval: ends } = own;
    // Counted shares are so exact that one decimal is too few.
    const format = question.counted
      ? (value: number) => shareToErrorPrecision(value, own)
      : shareText;
    return [labels[index] + unit, format(estimate), ends.map(format).join(" to ")];
  });
  const widths = new Set(bins.map(({ from, to }) => (to - from).toPrecision(6)));
  const note = [
    `Thin lines are intervals. All of them contain the true shares ${together}.`,
    widths.size > 1 ? "The picture draws all bins equally wide." : "",
    quantiles.length ? "Dashed lines mark the quantiles from the table above." : "",
  ];
  return [
    el(
      "figure",
      {},
      el("figcaption", {}, title(name)),
      plot,
      el("p", { class: "help" }, note.filter((words) => words !== "").join(" ")),
    ),
    collapsedTable(
      `${title(name)}, as a table`,
      [name, "Share of people", "Simultaneous interval"],
      rows,
    ),
  ];
}

const verticalPosition = (axis: ChartAxis, value: number) => 100 - positionOnAxis(axis, value);

function gridLines(axis: ChartAxis): Element[] {
  return axis.ticks.flatMap((value) => {
    const y = percentAttribute(verticalPosition(axis, value));
    return [
      svg("line", {
        class: value === 0 ? "zero" : "tick",
        x1: percentAttribute(LEFT_GUTTER_PERCENT),
        x2: "100%",
        y1: y,
        y2: y,
      }),
      svg(
        "text",
        {
          class: "tick-text",
          x: percentAttribute(LEFT_GUTTER_PERCENT - 1),
          y,
          dy: 4,
          "text-anchor": "end",
        },
        shareTickText(value),
      ),
    ];
  });
}

function drawBin(
  { share: own }: HistogramBin,
  index: number,
  bins: number,
  axis: ChartAxis,
): Element[] {
  const [left, right] = [index, index + 1].map((edge) =>
    plotToFullPosition((edge / bins) * 100),
  ) as [number, number];
  const gap = (right - left) * 0.06;
  const [top, bottom] = [Math.max(own.estimate, 0), Math.min(own.estimate, 0)];
  const bar = svg("rect", {
    class: "bar",
    x: percentAttribute(left + gap),
    width: percentAttribute(right - left - 2 * gap),
    y: percentAttribute(verticalPosition(axis, top)),
    height: percentAttribute(positionOnAxis(axis, top) - positionOnAxis(axis, bottom)),
  });
  return bins > MAX_BINS_WITH_WHISKERS ? [bar] : [bar, drawWhisker(own, (left + right) / 2, axis)];
}

/**
 * Draws an estimated share as a dot with its interval. `place` is its horizontal position in per
 * cent.
 */
function drawShareDot(own: Estimate, place: number, axis: ChartAxis): Element[] {
  const x = plotToFullPosition(place);
  const y = percentAttribute(verticalPosition(axis, own.estimate));
  return [
    drawWhisker(own, x, axis),
    svg("circle", { class: "dot", cx: percentAttribute(x), cy: y, r: 3 }),
  ];
}

function drawWhisker(own: Estimate, place: number, axis: ChartAxis): Element {
  const [from, to] = own.simultaneous_interval;
  const x = percentAttribute(place);
  return svg("line", {
    class: "whisker",
    x1: x,
    x2: x,
    y1: percentAttribute(verticalPosition(axis, from)),
    y2: percentAttribute(verticalPosition(axis, to)),
  });
}

const drawQuantileLine = (x: number) =>
  svg("line", {
    class: "quantile",
    x1: percentAttribute(x),
    x2: percentAttribute(x),
    y1: 0,
    y2: "100%",
  });

/**
 * Draws the edges of the bins as labels below the plot. If there are many edges, only some get a
 * label.
 */
function edgeLabels(bins: readonly HistogramBin[]): Element[] {
  const all = [...bins.map(({ from }) => from), bins[bins.length - 1]?.to ?? 0];
  const every = Math.ceil(all.length / 7);
  return all.flatMap((edge, index) => {
    if (index % every !== 0) return [];
    const x = plotToFullPosition((index / bins.length) * 100);
    const anchor = x < 4 ? "start" : x > 96 ? "end" : "middle";
    // Narrow screens show every second label.
    const style = (index / every) % 2 === 1 ? "tick-text between" : "tick-text";
    return svg(
      "text",
      { class: style, x: percentAttribute(x), y: HEIGHT + 16, "text-anchor": anchor },
      formatNumber(edge),
    );
  });
}
