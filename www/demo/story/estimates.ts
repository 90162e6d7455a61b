// The view of the collector's estimates and the truth: rows for the chart, and a verdict in words.

import type { Estimand } from "../shared/analysis.js";
import { byId, el } from "../shared/dom.js";
import {
  formatCount,
  formatCountRoundedUp,
  formatCountWithNoun,
  formatHalfWidth,
} from "../shared/format.js";
import type { MechanismChannel } from "./channel.js";
import {
  type ChartRow,
  EstimateChart,
  isLostInNoise,
  SHARE_AXIS,
  YES_MINUS_NO_AXIS,
} from "./chart.js";
import { type EstimatesResponse, itemName } from "./collector.js";
import type { TrueCounts } from "./ledger.js";
import type { Question } from "./questions.js";

const VIEWS: readonly { readonly key: Estimand; readonly name: string; readonly title: string }[] =
  [
    { key: "mean", name: "Yes minus no", title: "Share of yes minus share of no" },
    { key: "plus", name: "Share of yes", title: "Share of people who said yes" },
    { key: "minus", name: "Share of no", title: "Share of people who said no" },
    {
      key: "nonmissing",
      name: "Share who answered",
      title: "Share of people who gave any answer (yes or no)",
    },
  ];

/** Half-width of an interval that the verdict calls readable: 10 percentage points. */
const TARGET_HALF_WIDTH = 0.1;

export class EstimatesView {
  readonly #chart = new EstimateChart("chart");
  readonly #questions: readonly Question[];
  #estimatesResponse: EstimatesResponse | null = null;
  #trueCounts: TrueCounts;
  #availableEstimands: readonly Estimand[] = [];
  /**
   * Quantity that the person chose to see, even if the current mechanism has no estimates of it.
   */
  #wantedEstimand: Estimand = "mean";
  #announcedVerdict = "";

  constructor(questions: readonly Question[], truth: TrueCounts) {
    this.#questions = questions;
    this.#trueCounts = truth;
    const views = byId("views");
    const choices = VIEWS.map(({ key, name }, index) =>
      el(
        "label",
        {},
        el("input", { type: "radio", name: "view", value: key, checked: index === 0 }),
        el("span", {}, name),
      ),
    );
    views.append(el("div", { class: "choices" }, ...choices));
    views.addEventListener("change", (event) => {
      this.#wantedEstimand = (event.target as HTMLInputElement).value as Estimand;
      this.#draw();
    });
  }

  /**
   * Shows the last estimates, and the true answers of all people whose reports this browser sent.
   */
  show({
    mechanismInfo: kind,
    estimands,
    estimates,
    sentReportsLedger: ledger,
  }: MechanismChannel): void {
    this.#estimatesResponse = estimates;
    this.#trueCounts = ledger.trueCounts;
    this.#availableEstimands = estimands;
    const silent = byId("untold");
    silent.hidden = estimands.length === VIEWS.length;
    silent.textContent = `Reports under ${kind.name} reveal only yes minus no.`;
    this.#draw();
  }

  /** Announces the verdict to screen readers if it has changed. */
  announceVerdict(): void {
    const verdict = byId("verdict").textContent ?? "";
    if (verdict === this.#announcedVerdict) return;
    this.#announcedVerdict = verdict;
    byId("summary").textContent = verdict;
  }

  #draw(): void {
    const told = VIEWS.filter(({ key }) => this.#availableEstimands.includes(key));
    const view = told.find(({ key }) => key === this.#wantedEstimand) ?? told[0];
    if (!view) return;
    for (const radio of document.querySelectorAll<HTMLInputElement>("#views input")) {
      radio.disabled = !told.some(({ key }) => key === radio.value);
      radio.checked = radio.value === view.key;
    }
    const reports = this.#estimatesResponse?.reports ?? 0;
    const foreign = reports - this.#trueCounts.people;
    const rows = estimateChartRows(
      this.#questions,
      this.#estimatesResponse,
      this.#trueCounts,
      view.key,
    );
    this.#chart.show(rows, view.key === "mean" ? YES_MINUS_NO_AXIS : SHARE_AXIS, view.title);
    byId("verdict").textContent = estimatesVerdict(rows, reports, foreign === 0);
    const others = byId("others");
    others.hidden = foreign === 0;
    others.textContent = foreignReportsText(foreign, this.#trueCounts.people);
  }
}

/**
 * Returns a chart row for each question. A row has the true and the estimated value of one
 * estimand, as a share of all people.
 */
export function estimateChartRows(
  questions: readonly Pick<Question, "item" | "label">[],
  answer: EstimatesResponse | null,
  truth: TrueCounts,
  estimand: Estimand,
): ChartRow[] {
  return questions.map(({ item, label }, index) => {
    const found = answer?.reports
      ? answer.estimates.find((estimates) => itemName(estimates.item) === item)?.[estimand]
      : undefined;
    const yes = truth.yes[index] ?? 0;
    const no = truth.no[index] ?? 0;
    const [any, mean] = [yes + no, yes - no];
    const people = { plus: yes, minus: no, mean, nonmissing: any, share: any }[estimand];
    return {
      label,
      truth: truth.people > 0 ? people / truth.people : null,
      estimate: found?.estimate ?? null,
      standardError: found?.standard_error ?? null,
      interval: found?.simultaneous_interval ?? null,
    };
  });
}

/**
 * Describes in words how precise the estimates are. `comparable` is true if the true answers of all
 * reports are known, so that the intervals can be checked.
 */
export function estimatesVerdict(
  rows: readonly ChartRow[],
  reports: number,
  comparable: boolean,
): string {
  // Distance to the farther end, because intervals of few reports are not symmetric.
  const reaches = rows.flatMap(({ estimate, interval }) =>
    estimate !== null && interval ? [Math.max(interval[1] - estimate, estimate - interval[0])] : [],
  );
  if (reports === 0 || reaches.length === 0) {
    return NO_REPORTS_TEXT;
  }
  const noisy = rows.filter(isLostInNoise).length;
  const widest = Math.max(...reaches);
  const holds = comparable ? coverageText(rows) : "";
  // Widths shrink with the square root of the number of reports.
  const needed = reports * (widest / TARGET_HALF_WIDTH) ** 2;
  const more =
    widest > TARGET_HALF_WIDTH
      ? ` About ${formatCountRoundedUp(needed)} reports would bring every interval within ${formatHalfWidth(TARGET_HALF_WIDTH)} percentage points.`
      : "";
  const start = `${formatCountWithNoun(reports, "report")}: `;
  if (noisy === rows.length) {
    return `${start}all answers are noise. Every interval is wide and contains 0, so nothing can be concluded.${more}`;
  }
  if (noisy > 0) {
    const are = noisy === 1 ? "is" : "are";
    return `${start}${noisy} of ${rows.length} answers ${are} still noise, with a wide interval that contains 0.${holds}${more}`;
  }
  return `${start}no answer is lost in noise. All answers are known to within ${formatHalfWidth(widest)} percentage points.${holds}${more}`;
}

/** Text shown instead of a verdict if there are no reports. */
export const NO_REPORTS_TEXT = "There are no reports yet. Send your report, or grow the crowd.";

/**
 * Returns a sentence on the number of intervals that contain the truth. The sentence begins with a
 * space.
 */
export function coverageText(rows: readonly ChartRow[]): string {
  const inside = rows.filter(
    ({ truth, interval }) =>
      truth !== null && interval !== null && interval[0] <= truth && truth <= interval[1],
  ).length;
  return ` The truth lies inside ${inside} of ${rows.length} intervals.`;
}

/**
 * Returns a sentence on the reports whose true answers this browser does not know. `foreign` is
 * the number of these reports.
 */
export function foreignReportsText(foreign: number, people: number): string {
  if (foreign > 0) {
    if (people === 0) {
      return `All ${formatCountWithNoun(foreign, "report")} came from elsewhere (another browser, or an earlier visit), so their true answers are not known here.`;
    }
    return (
      `${formatCountWithNoun(foreign, "report")} came from elsewhere (another browser, or an earlier visit). The ` +
      `estimates include them, but their true answers are not known here. The truth shown ` +
      `covers only ${people === 1 ? "the one person" : `the ${formatCount(people)} people`} whose reports this browser sent.`
    );
  }
  return foreign < 0 ? "The collector’s answer is older than the last upload." : "";
}
