// The plots: errors and privacy loss as functions of ε and of the number of people. A table below
// each plot has the same numbers.

import { axisX, axisY, dot, gridX, gridY, lineY, plot, ruleX } from "@observablehq/plot";
import { byId, el } from "../shared/dom.js";
import { formatCount } from "../shared/format.js";
import { type CurveName, type CurvePoint, extendedRange, MIN_AXIS_RANGES } from "./curves.js";
import {
  formatCompactCount,
  formatFrequency,
  formatLossThreeDigits,
  formatNumber,
} from "./words.js";

/** One line of a plot: its name, its value at a point, and the format of its values. */
interface PlotLine {
  readonly name: string;
  readonly pointValue: (point: CurvePoint) => number | null;
  readonly formatValue: (value: number | null) => string;
}

interface PlotDescription {
  readonly figureId: string;
  readonly curve: CurveName;
  readonly title: string;
  /** Name of the horizontal axis. `tick` formats the numbers on this axis. */
  readonly axisName: string;
  readonly tick: (value: number) => string;
  readonly lines: readonly [PlotLine, PlotLine];
}

const ERROR_LINE: PlotLine = {
  name: "error",
  pointValue: ({ error }) => error,
  formatValue: formatNumber,
};
const SMALLEST_FREQUENCY_LINE: PlotLine = {
  name: "smallest detectable frequency",
  pointValue: ({ smallestFrequency: smallest }) => smallest,
  formatValue: formatFrequency,
};
const CENTRAL_EPSILON_LINE: PlotLine = {
  name: "shuffled ε",
  pointValue: ({ centralEpsilon: central }) => central,
  formatValue: formatLossThreeDigits,
};
const LOCAL_EPSILON_LINE: PlotLine = {
  name: "local ε",
  pointValue: ({ epsilon }) => epsilon,
  formatValue: formatLossThreeDigits,
};

const PLOT_DESCRIPTIONS: readonly PlotDescription[] = [
  {
    figureId: "plot-epsilon",
    curve: "epsilon",
    title: "Error against local ε",
    axisName: "local ε",
    tick: String,
    lines: [ERROR_LINE, SMALLEST_FREQUENCY_LINE],
  },
  {
    figureId: "plot-people",
    curve: "people",
    title: "Error against number of people",
    axisName: "people",
    tick: formatCompactCount,
    lines: [ERROR_LINE, SMALLEST_FREQUENCY_LINE],
  },
  {
    figureId: "plot-privacy",
    curve: "people",
    title: "Privacy loss against number of people",
    axisName: "people",
    tick: formatCompactCount,
    lines: [CENTRAL_EPSILON_LINE, LOCAL_EPSILON_LINE],
  },
];

const HEIGHT = 260;
/** Left margin in px, which leaves space for the numbers of the vertical axis. */
const LEFT = 52;
/** Right margin in px, which leaves space for half of the last number on the horizontal axis. */
const RIGHT = 14;
/**
 * Pause in ms between two drawings, so that controls respond first. One drawing takes about 20 ms.
 */
const MIN_REDRAW_INTERVAL_MS = 80;
/** Space in px for one label of the horizontal axis. */
const TICK_LABEL_WIDTH = 55;

/** Points to plot: those of the current plan, and all curve points that are known so far. */
export interface PlotData {
  readonly planPoints: Readonly<Record<CurveName, CurvePoint>>;
  readonly curves: Readonly<Record<CurveName, readonly CurvePoint[]>>;
  /** True if more points will follow. */
  readonly morePointsFollow: boolean;
}

export class Plots {
  readonly #panels = PLOT_DESCRIPTIONS.map((frame) => new PlotPanel(frame));
  #drawn: PlotData | null = null;
  #due = false;

  constructor() {
    new ResizeObserver(() => this.#draw()).observe(byId("plot-epsilon"));
  }

  show(drawn: PlotData): void {
    this.#drawn = drawn;
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      this.#draw();
    }, MIN_REDRAW_INTERVAL_MS);
  }

  #draw(): void {
    for (const panel of this.#panels) if (this.#drawn) panel.draw(this.#drawn);
  }
}

class PlotPanel {
  readonly #plotDescription: PlotDescription;
  readonly #plotContainer = el("div", { class: "plot" });
  readonly #body = el("tbody");

  constructor(frame: PlotDescription) {
    this.#plotDescription = frame;
    const heads = [frame.axisName, ...frame.lines.map(({ name }) => name)];
    byId(frame.figureId).replaceChildren(
      el("figcaption", {}, frame.title),
      this.#plotContainer,
      el(
        "details",
        {},
        el("summary", {}, `${frame.title}, as a table`),
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
          this.#body,
        ),
      ),
    );
  }

  draw({ planPoints: here, curves, morePointsFollow: partial }: PlotData): void {
    const { axisName: axis, curve, lines } = this.#plotDescription;
    const points = [...curves[curve]].sort((a, b) => a.axisValue - b.axisValue);
    const own = here[curve];
    const domain = extendedRange(MIN_AXIS_RANGES[curve], own.axisValue);
    const values = [own, ...points].flatMap((point) =>
      lines.map(({ pointValue: of }) => of(point)),
    );
    const range = enclosingDecadeRange(
      values.filter((value): value is number => value !== null && value > 0),
    );
    const width = this.#plotContainer.clientWidth;
    if (width <= LEFT + RIGHT || range === null) return;
    const [first, second] = lines;
    const drawn = plot({
      width,
      height: HEIGHT,
      marginLeft: LEFT,
      marginRight: RIGHT,
      marginBottom: 38,
      ariaLabel: `${this.#plotDescription.title}: ${pointInWords(own, lines)}. The table below has the numbers.`,
      x: { type: "log", domain },
      y: { type: "log", domain: range },
      marks: [
        // Explicit texts: a log scale would label only some of the given ticks.
        axisX({
          ticks: powerOfTenTicks(domain, width / TICK_LABEL_WIDTH),
          text: this.#plotDescription.tick,
          label: axis,
        }),
        axisY({ ticks: powerOfTenTicks(range), text: formatNumber, label: null }),
        gridX({ ticks: powerOfTenTicks(domain, width / TICK_LABEL_WIDTH), className: "grid" }),
        gridY({ ticks: powerOfTenTicks(range), className: "grid" }),
        ruleX([own.axisValue], { className: "here" }),
        lineY(points, { x: "axisValue", y: first.pointValue, className: "line-first", clip: true }),
        lineY(points, {
          x: "axisValue",
          y: second.pointValue,
          className: "line-second",
          clip: true,
        }),
        dot([own], {
          x: "axisValue",
          y: first.pointValue,
          r: 5.5,
          symbol: "circle",
          className: "dot-first",
        }),
        dot([own], {
          x: "axisValue",
          y: second.pointValue,
          r: 6,
          symbol: "diamond",
          className: "dot-second",
        }),
      ],
    });
    // Screen readers see one picture with one name, without the names of its groups.
    drawn.setAttribute("role", "img");
    for (const group of drawn.querySelectorAll("[aria-label]")) group.removeAttribute("aria-label");
    // The content security policy forbids inline styles. planner.css has these rules.
    drawn.querySelector("style")?.remove();
    this.#plotContainer.replaceChildren(drawn);
    if (!partial) this.#body.replaceChildren(...points.map((point) => this.#row(point)));
  }

  #row(point: CurvePoint): HTMLElement {
    const { curve, lines } = this.#plotDescription;
    const at = curve === "people" ? formatCount(point.axisValue) : formatNumber(point.axisValue);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, at),
      ...lines.map(({ pointValue: of, formatValue: words }) => el("td", {}, words(of(point)))),
    );
  }
}

function pointInWords(point: CurvePoint, lines: readonly PlotLine[]): string {
  return lines
    .map(({ name, pointValue: of, formatValue: words }) => `${name} ${words(of(point))}`)
    .join(", ");
}

/** Returns the smallest range of whole decades that includes the values, or null without values. */
function enclosingDecadeRange(values: readonly number[]): [number, number] | null {
  if (values.length === 0) return null;
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  return [low, low === high ? 10 * high : high];
}

/**
 * Returns ticks at powers of ten. If there are many, every second power is left out. If there are
 * few, twice and five times each power are added.
 */
function powerOfTenTicks([from, to]: readonly [number, number], most = 10): number[] {
  const first = Math.floor(Math.log10(from));
  const length = Math.ceil(Math.log10(to)) - first + 1;
  const powers = Array.from({ length }, (_, index) => first + index);
  const leading = length > 3 ? [1] : [1, 2, 5];
  return powers
    .filter((power) => length <= most || power % 2 === 0)
    .flatMap((power) => leading.map((digit) => Number(`${digit}e${power}`)))
    .filter((tick) => tick >= from && tick <= to);
}
