// The view of the collector's estimates for each question and the truth: rows for the charts, and
// verdicts in words.

import { byId } from "../../shared/dom.js";
import { formatCount, formatCountWithNoun } from "../../shared/format.js";
import { type ChartRow, EstimateChart, SHARE_AXIS } from "../chart.js";
import type { EstimatesResponse } from "../collector.js";
import {
  coverageText,
  estimateChartRows,
  estimatesVerdict,
  foreignReportsText,
  NO_REPORTS_TEXT,
} from "../estimates.js";
import { createChartAndTable } from "../figure.js";
import type { VisitsChannel } from "./channel.js";
import { DistributionChart, type DistributionRows, formatWithUnit } from "./distribution.js";
import type { VisitTrueCounts } from "./people.js";
import { FEATURES, LOAD, optionLabel, QUANTILES, THEME } from "./task.js";

const columnHeadings = (listed: string, together: string) => [
  listed,
  "Truth",
  "Estimate",
  "Standard error",
  `95% interval for all ${together} at once`,
];
const THEME_CHART_ITEMS = THEME.options.map((item) => ({ item, label: optionLabel(item) }));
const FEATURE_CHART_ITEMS = FEATURES.options.map((item) => ({ item, label: optionLabel(item) }));
/** Edges of the load times, without the ends of their range. */
const INNER_EDGES = LOAD.edges.slice(1, -1);

export class VisitsEstimatesView {
  readonly #theme: EstimateChart;
  readonly #features: EstimateChart;
  readonly #load: DistributionChart;
  #announcedVerdicts = "";

  constructor() {
    byId("visits-theme").append(
      ...createChartAndTable("theme-chart", "Themes", columnHeadings("Theme", "themes")),
    );
    byId("visits-features").append(
      ...createChartAndTable("features-chart", "Features", columnHeadings("Feature", "features")),
    );
    byId("visits-load").append(
      ...createChartAndTable(
        "load-chart",
        "Load times",
        columnHeadings("Load time", "quantiles, or all shares,"),
      ),
    );
    // All charts of the page have the same legend.
    const key = document.querySelector("#estimates .key");
    if (key) byId("visits-key").replaceWith(key.cloneNode(true));
    this.#theme = new EstimateChart("theme-chart");
    this.#features = new EstimateChart("features-chart");
    this.#load = new DistributionChart("load-chart", LOAD);
  }

  show({ lastEstimates: answers, trueCounts: truth, reports }: VisitsChannel): void {
    const { people } = truth;
    const comparable = reports === people;
    const shares = (
      listed: readonly { item: string; label: string }[],
      answer: EstimatesResponse | undefined,
      counts: readonly number[],
    ) => estimateChartRows(listed, answer ?? null, { people, yes: counts, no: [] }, "share");
    const theme = shares(THEME_CHART_ITEMS, answers?.theme, truth.themes);
    const features = shares(FEATURE_CHART_ITEMS, answers?.features, truth.features);
    const load = {
      sharesBelow: shareBelowChartRows(answers?.loadMs, truth),
      quantiles: quantileChartRows(answers?.loadMs, truth),
    };
    this.#theme.show(theme, SHARE_AXIS, "Share of people with each theme");
    this.#features.show(features, SHARE_AXIS, "Share of people who used each feature");
    this.#load.show(load, "Load times: quantiles, and the share of people below each load time");
    const of = (answer: EstimatesResponse | undefined) => answer?.reports ?? 0;
    const verdicts = {
      theme: estimatesVerdict(theme, of(answers?.theme), comparable),
      features: estimatesVerdict(features, of(answers?.features), comparable),
      load: loadTimeVerdict(load, of(answers?.loadMs), comparable),
    };
    for (const [name, words] of Object.entries(verdicts))
      byId(`${name}-verdict`).textContent = words;
    const others = byId("visits-others");
    others.hidden = comparable;
    others.textContent = foreignReportsText(reports - people, people);
  }

  /** Announces the verdicts to screen readers if one of them has changed. */
  announceVerdicts(): void {
    const said = ["theme", "features", "load"]
      .map((name) => byId(`${name}-verdict`).textContent)
      .join(" ");
    if (said === this.#announcedVerdicts) return;
    this.#announcedVerdicts = said;
    byId("visits-summary").textContent = said;
  }
}

/** Returns a chart row for each edge: the share of people whose load time is below the edge. */
export function shareBelowChartRows(
  answer: EstimatesResponse | undefined,
  truth: VisitTrueCounts,
): ChartRow[] {
  return INNER_EDGES.map((edge) => {
    const found = answer?.number?.distribution.find(({ below }) => below === edge);
    return {
      label: `Below ${formatWithUnit(edge, LOAD.unit)}`,
      truth: truth.people > 0 ? truth.countBelow(edge) / truth.people : null,
      estimate: found?.estimate ?? null,
      standardError: found?.standard_error ?? null,
      interval: found?.simultaneous_interval ?? null,
    };
  });
}

/** Returns a chart row for each requested quantile of the load times, in milliseconds. */
export function quantileChartRows(
  answer: EstimatesResponse | undefined,
  truth: VisitTrueCounts,
): ChartRow[] {
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
export function loadTimeVerdict(
  { sharesBelow: below, quantiles }: DistributionRows,
  reports: number,
  comparable: boolean,
): string {
  const words = quantiles.flatMap(({ label, estimate, interval }) => {
    if (estimate === null || !interval) return [];
    const [from, to] = interval.map(formatCount);
    return [`${label.toLowerCase()} ${formatWithUnit(estimate, LOAD.unit)} (${from} to ${to})`];
  });
  if (words.length === 0) return NO_REPORTS_TEXT;
  const holds = comparable ? coverageText([...quantiles, ...below]) : "";
  return `${formatCountWithNoun(reports, "report")}: ${words.join(", ")}.${holds}`;
}
