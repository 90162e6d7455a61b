// The view of the collector's estimates for each question and the truth: rows for the charts, and
// verdicts in words.

import { byId } from "../../shared/dom.js";
import { count, counted } from "../../shared/format.js";
import { EstimateChart, type Row, SHARE } from "../chart.js";
import type { EstimatesAnswer } from "../collector.js";
import { coverageText, elsewhereText, NONE_YET, rowsOf, verdictOf } from "../estimates.js";
import { figure } from "../figure.js";
import type { VisitsChannel } from "./channel.js";
import { Distribution, inUnit, type NumberRows } from "./distribution.js";
import type { VisitTruth } from "./people.js";
import { FEATURES, LOAD, optionLabel, QUANTILES, THEME } from "./task.js";

const heads = (listed: string, together: string) => [
  listed,
  "Truth",
  "Estimate",
  "Standard error",
  `95% interval for all ${together} at once`,
];
const THEMES = THEME.options.map((item) => ({ item, label: optionLabel(item) }));
const USED = FEATURES.options.map((item) => ({ item, label: optionLabel(item) }));
/** Edges of the load times, without the ends of their range. */
const EDGES = LOAD.edges.slice(1, -1);

export class VisitsEstimatesView {
  readonly #theme: EstimateChart;
  readonly #features: EstimateChart;
  readonly #load: Distribution;
  #verdict = "";

  constructor() {
    byId("visits-theme").append(...figure("theme-chart", "Themes", heads("Theme", "themes")));
    byId("visits-features").append(
      ...figure("features-chart", "Features", heads("Feature", "features")),
    );
    byId("visits-load").append(
      ...figure("load-chart", "Load times", heads("Load time", "quantiles, or all shares,")),
    );
    // All charts of the page have the same legend.
    const key = document.querySelector("#estimates .key");
    if (key) byId("visits-key").replaceWith(key.cloneNode(true));
    this.#theme = new EstimateChart("theme-chart");
    this.#features = new EstimateChart("features-chart");
    this.#load = new Distribution("load-chart", LOAD);
  }

  show({ answers, truth, reports }: VisitsChannel): void {
    const { people } = truth;
    const comparable = reports === people;
    const shares = (
      listed: readonly { item: string; label: string }[],
      answer: EstimatesAnswer | undefined,
      counts: readonly number[],
    ) => rowsOf(listed, answer ?? null, { people, yes: counts, no: [] }, "share");
    const theme = shares(THEMES, answers?.theme, truth.themes);
    const features = shares(USED, answers?.features, truth.features);
    const load = {
      below: belowRows(answers?.loadMs, truth),
      quantiles: quantileRows(answers?.loadMs, truth),
    };
    this.#theme.show(theme, SHARE, "Share of people with each theme");
    this.#features.show(features, SHARE, "Share of people who used each feature");
    this.#load.show(load, "Load times: quantiles, and the share of people below each load time");
    const of = (answer: EstimatesAnswer | undefined) => answer?.reports ?? 0;
    const verdicts = {
      theme: verdictOf(theme, of(answers?.theme), comparable),
      features: verdictOf(features, of(answers?.features), comparable),
      load: numberVerdict(load, of(answers?.loadMs), comparable),
    };
    for (const [name, words] of Object.entries(verdicts))
      byId(`${name}-verdict`).textContent = words;
    const others = byId("visits-others");
    others.hidden = comparable;
    others.textContent = elsewhereText(reports - people, people);
  }

  /** Announces the verdicts to screen readers if one of them has changed. */
  announce(): void {
    const said = ["theme", "features", "load"]
      .map((name) => byId(`${name}-verdict`).textContent)
      .join(" ");
    if (said === this.#verdict) return;
    this.#verdict = said;
    byId("visits-summary").textContent = said;
  }
}

/** Returns a chart row for each edge: the share of people whose load time is below the edge. */
export function belowRows(answer: EstimatesAnswer | undefined, truth: VisitTruth): Row[] {
  return EDGES.map((edge) => {
    const found = answer?.number?.distribution.find(({ below }) => below === edge);
    return {
      label: `Below ${inUnit(edge, LOAD.unit)}`,
      truth: truth.people > 0 ? truth.below(edge) / truth.people : null,
      estimate: found?.estimate ?? null,
      standardError: found?.standard_error ?? null,
      interval: found?.simultaneous_interval ?? null,
    };
  });
}

/** Returns a chart row for each requested quantile of the load times, in milliseconds. */
export function quantileRows(answer: EstimatesAnswer | undefined, truth: VisitTruth): Row[] {
  return QUANTILES.map(([part, label]) => {
    const found = answer?.number?.quantiles.find(({ quantile }) => quantile === part);
    return {
      label,
      truth: truth.quantile(part),
      estimate: found?.estimate ?? null,
      standardError: null,
      interval: found?.simultaneous_interval ?? null,
    };
  });
}

/**
 * Describes the estimated quantiles of load times in words. `comparable` is true if the true
 * answers of all reports are known.
 */
export function numberVerdict(
  { below, quantiles }: NumberRows,
  reports: number,
  comparable: boolean,
): string {
  const words = quantiles.flatMap(({ label, estimate, interval }) => {
    if (estimate === null || !interval) return [];
    const [from, to] = interval.map(count);
    return [`${label.toLowerCase()} ${inUnit(estimate, LOAD.unit)} (${from} to ${to})`];
  });
  if (words.length === 0) return NONE_YET;
  const holds = comparable ? coverageText([...quantiles, ...below]) : "";
  return `${counted(reports, "report")}: ${words.join(", ")}.${holds}`;
}
