// Error bars of all mechanisms side by side, with the widths of the intervals that the collector
// states.

import { byId, el, svg } from "../shared/dom.js";
import { formatCountWithNoun, formatPercent } from "../shared/format.js";
import type { EstimatesResponse } from "./collector.js";

/** Width of the error bars of one mechanism. */
export interface MechanismErrorBarWidth {
  readonly name: string;
  readonly epsilonScopeText: string;
  /** True if ε protects single answers only. */
  readonly protectsSingleAnswersOnly: boolean;
  readonly reports: number;
  /** Half-width of the intervals for means, averaged over questions. It is null without reports. */
  readonly halfWidth: number | null;
  readonly chosen: boolean;
}

/**
 * Returns the half-width of the simultaneous intervals for means, averaged over items. Returns null
 * without reports.
 */
export function meanHalfWidth(answer: EstimatesResponse | null): number | null {
  const halves = (answer?.estimates ?? []).flatMap(({ mean }) =>
    mean ? [(mean.simultaneous_interval[1] - mean.simultaneous_interval[0]) / 2] : [],
  );
  if (!answer?.reports || halves.length === 0) return null;
  return halves.reduce((sum, half) => sum + half, 0) / halves.length;
}

/** Compares the widths of all mechanisms in words. */
export function comparisonText(widths: readonly MechanismErrorBarWidth[]): string {
  const known = widths.flatMap(({ halfWidth: half, ...width }) =>
    half === null ? [] : [{ ...width, half }],
  );
  const chosen = known.find((width) => width.chosen);
  if (!chosen) return "There are no reports under the chosen mechanism yet.";
  const missing = widths.filter(({ halfWidth: half }) => half === null);
  const others = known.filter(({ name }) => name !== chosen.name);
  const equal = others.filter(({ reports }) => reports === chosen.reports);
  if (others.length === 0) {
    return `${formatCountWithNoun(chosen.reports, "report")} under ${chosen.name}. The other mechanisms have no reports yet.`;
  }
  if (equal.length < others.length || missing.length > 0) {
    return "The mechanisms have different numbers of reports. Their error bars differ for that reason too.";
  }
  const phrases = others.map(({ name, half }) => {
    const change = chosen.half / half - 1;
    const size = formatPercent(Math.abs(change));
    if (size === "0%") return `as wide as under ${name}`;
    return `${size} ${change < 0 ? "narrower" : "wider"} than under ${name}`;
  });
  const weaker = known
    .filter((width) => width.protectsSingleAnswersOnly)
    .map(({ name, epsilonScopeText: covers }) => {
      return ` ${name} promises less: its ε covers ${covers}.`;
    });
  return `${formatCountWithNoun(chosen.reports, "report")} for each mechanism: under ${chosen.name} the error bars are ${joinPhrases(phrases)}.${weaker.join("")}`;
}

function joinPhrases(phrases: readonly string[]): string {
  return phrases.length < 2
    ? phrases.join("")
    : `${phrases.slice(0, -1).join(", ")} and ${phrases[phrases.length - 1]}`;
}

/** Shows the widths, and the button that makes the number of reports equal for all mechanisms. */
export function showMechanismComparison(widths: readonly MechanismErrorBarWidth[]): void {
  const widest = Math.max(...widths.map(({ halfWidth: half }) => half ?? 0));
  byId("widths").replaceChildren(...widths.map((width) => widthRow(width, widest)));
  byId("widths-text").textContent = comparisonText(widths);
  const most = Math.max(...widths.map(({ reports }) => reports));
  byId("catch-up").hidden = most === 0 || widths.every(({ reports }) => reports >= most);
}

function widthRow(
  { name, epsilonScopeText: covers, reports, halfWidth: half, chosen }: MechanismErrorBarWidth,
  widest: number,
): HTMLElement {
  const share = half === null || widest === 0 ? 0 : half / widest;
  return el(
    "li",
    { "data-chosen": chosen, "aria-current": chosen ? "true" : undefined },
    el("span", { class: "width-name" }, name, el("small", {}, `ε covers ${covers}`)),
    half === null ? el("span", { class: "width-none" }, "no reports yet") : drawWidthBar(share),
    el(
      "span",
      { class: "width-half" },
      half === null ? "–" : `±${(half * 100).toFixed(1)}`,
      el("small", {}, half === null ? "" : formatCountWithNoun(reports, "report")),
    ),
  );
}

/**
 * Draws an error bar around 0. `share` is its width divided by the width of the largest error bar.
 */
function drawWidthBar(share: number): SVGSVGElement {
  const reach = 96 * share;
  const bar = svg("svg", {
    class: "whisker",
    viewBox: "0 0 200 20",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
    focusable: "false",
  });
  bar.append(
    svg("line", { class: "centre", x1: 100, x2: 100, y1: 0, y2: 20 }),
    svg("line", { class: "reach-line", x1: 100 - reach, x2: 100 + reach, y1: 10, y2: 10 }),
    ...[-reach, reach].map((end) =>
      svg("line", { class: "reach-end", x1: 100 + end, x2: 100 + end, y1: 3, y2: 17 }),
    ),
  );
  return bar;
}
