// Pictures of time lines: one small plot for each item, all with the same scale (small multiples).

import { el, svg } from "../demo/shared/dom.js";
import type { EstimandRows } from "./rows.js";
import { axisContaining, type ChartAxis, percentAttribute, positionOnAxis } from "./scale.js";
import { collapsedTable } from "./table.js";
import type { TimeLine, TimeLinePoint } from "./timeline.js";

const HEIGHT = 84;

const pointsWithEstimate = ({ points }: TimeLine) =>
  points.flatMap(({ batch, estimate }, index) =>
    estimate === null ? [] : { batch, estimate, index },
  );

function axisForLines(lines: readonly TimeLine[], zero: boolean): ChartAxis {
  const ends = lines
    .flatMap(pointsWithEstimate)
    .flatMap(({ estimate }) => [estimate.estimate, ...estimate.simultaneous_interval]);
  return axisContaining(ends, { zero, most: 4 });
}

/**
 * Draws a plot for each time line, and one table of all. With `apart`, each plot has a separate
 * scale, for items with different units. With `zero`, the scales include 0.
 */
export function timeLinePlots(
  lines: readonly TimeLine[],
  format: EstimandRows["format"],
  scale: (value: number) => string,
  { zero, apart }: { readonly zero: boolean; readonly apart: boolean },
): readonly Element[] {
  const common = axisForLines(lines, zero);
  const figures = lines.map((line) => {
    const axis = apart ? axisForLines([line], zero) : common;
    return el(
      "figure",
      { class: "line" },
      el("figcaption", {}, line.label),
      drawTimeLine(line, axis, format, scale),
    );
  });
  const batches = lines[0]?.points.map(({ batch }) => batch) ?? [];
  const rows = batches.map((batch, index) => [
    String(batch),
    ...lines.map(({ points }) => formatTimeLinePoint(points[index], format)),
  ]);
  const heads = ["Batch", ...lines.map(({ label }) => label)];
  return [
    el("div", { class: "lines" }, ...figures),
    collapsedTable("Time line, as a table", heads, rows),
  ];
}

function formatTimeLinePoint(
  point: TimeLinePoint | undefined,
  format: EstimandRows["format"],
): string {
  if (point === undefined || point.estimate === null) return "–";
  const own = point.estimate;
  const { estimate, simultaneous_interval } = own;
  const [from, to] = simultaneous_interval;
  const said = [estimate, from, to].map((value) => format(value, own));
  return `${said[0]} (${said[1]} to ${said[2]})`;
}

function drawTimeLine(
  line: TimeLine,
  axis: ChartAxis,
  format: EstimandRows["format"],
  scale: (value: number) => string,
): SVGSVGElement {
  const { label, points } = line;
  const across = (index: number) => 14 + ((index + 0.5) / points.length) * 84;
  const y = (value: number) => percentAttribute(100 - positionOnAxis(axis, value));
  const own = pointsWithEstimate(line);
  const last = own[own.length - 1];
  const said =
    last === undefined
      ? "no estimate"
      : `${format(last.estimate.estimate, last.estimate)} in batch ${last.batch}`;
  const ticks = axis.ticks.flatMap((tick) => [
    svg("line", {
      class: tick === 0 ? "zero" : "tick",
      x1: "14%",
      x2: "100%",
      y1: y(tick),
      y2: y(tick),
    }),
    svg(
      "text",
      { class: "tick-text", x: "12.5%", y: y(tick), dy: 4, "text-anchor": "end" },
      scale(tick),
    ),
  ]);
  const segments = own.slice(1).map((point, index) => {
    const before = own[index] ?? point;
    return svg("line", {
      class: "segment",
      x1: percentAttribute(across(before.index)),
      y1: y(before.estimate.estimate),
      x2: percentAttribute(across(point.index)),
      y2: y(point.estimate.estimate),
    });
  });
  const marks = own.flatMap(({ index, estimate }) => {
    const x = percentAttribute(across(index));
    const [from, to] = estimate.simultaneous_interval;
    return [
      svg("line", { class: "together", x1: x, x2: x, y1: y(from), y2: y(to) }),
      svg("circle", { class: "dot", cx: x, cy: y(estimate.estimate), r: 3.5 }),
    ];
  });
  const every = Math.ceil(points.length / 8);
  const numbers = points.flatMap(({ batch }, index) =>
    index % every === 0
      ? svg(
          "text",
          {
            class: "tick-text",
            x: percentAttribute(across(index)),
            y: HEIGHT + 18,
            "text-anchor": "middle",
          },
          String(batch),
        )
      : [],
  );
  return svg(
    "svg",
    {
      class: "strip",
      role: "img",
      width: "100%",
      height: HEIGHT + 22,
      "aria-label": `${label} over batches: ${said}. The table below has the numbers.`,
    },
    svg("svg", { class: "marks", width: "100%", height: HEIGHT }, ...ticks, ...segments, ...marks),
    ...numbers,
  );
}
