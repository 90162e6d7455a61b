// The page of one task: its estimates, and panels that explain them.

import { displayedName } from "../client/displayed-name.js";
import { el } from "../demo/shared/dom.js";
import { formatCount, formatCountWithNoun } from "../demo/shared/format.js";
import {
  type Batch,
  type BatchesResponse,
  type CollectorClient,
  CollectorError,
  type EstimatesResponse,
  type HeavyHitters,
  isSumTaskResponse,
  type MadeUpReportsInfluence,
  type Question,
  type ReportsPrivacy,
  type SumInfluence,
  type SumsPrivacyResponse,
  type TaskResponse,
} from "./api.js";
import { type BatchUnit, batchUnitOf, formatWithUnit } from "./batch-unit.js";
import {
  closedBatchTable,
  closingRule,
  drawOpenBatchBar,
  drawOpenBatchProgress,
  openBatch,
  releasedBatches,
  totalReports,
} from "./batches-view.js";
import { EstimatesControls } from "./controls.js";
import { crossView } from "./cross.js";
import { dotTable } from "./dots.js";
import { EstimatesCache, itemsToRequest, MAX_ROWS } from "./estimates-cache.js";
import { numberView } from "./histogram.js";
import { labelLinks } from "./label-links.js";
import { estimandTexts, formatAsRanges, itemCount, questionsOf } from "./labels.js";
import { parseUploadCounts } from "./metrics.js";
import {
  commonTextsView,
  influenceView,
  noteParagraphs,
  privacyView,
  uploadsView,
} from "./panels.js";
import {
  type EstimandRows,
  type EstimateRow,
  estimandRows,
  estimandsInResponse,
  matchesSearch,
  sortedRows,
} from "./rows.js";
import { checkNumberSampleSize, checkSampleSize } from "./sample-size.js";
import { PageSection, type SectionContent } from "./section.js";
import { significanceView } from "./significance-view.js";
import type { ViewState } from "./state.js";
import {
  dishonestInfluenceView,
  missingMessagesText,
  privacyPromiseText,
  requestDishonestInfluence,
  sumsPrivacyView,
} from "./sums.js";
import { timelineView } from "./timeline-view.js";

/** Confidence with which all intervals in one table or picture hold at once. */
export const CONFIDENCE = 0.95;

export class TaskPage {
  readonly element: HTMLElement;
  readonly id: string;
  readonly #collector: CollectorClient;
  readonly #cache: EstimatesCache;
  readonly #task: TaskResponse;
  readonly #controls: EstimatesControls;
  readonly #facts = el("p", { class: "facts" });
  readonly #estimatesSection = new PageSection("estimates", "Estimates", "wide");
  readonly #significance = new PageSection("standing", "Significant results", "wide");
  readonly #timeline = new PageSection("timeline", "Estimates over time", "wide");
  readonly #batches = new PageSection("filling", "Batches");
  readonly #privacy = new PageSection("privacy", "Privacy");
  readonly #madeUpReportsSection = new PageSection("influence", "Made-up reports");
  readonly #rejectedUploadsSection = new PageSection("uploads", "Rejected uploads");
  readonly #batchUnit: BatchUnit;
  #state: ViewState;
  #batchesResponse: BatchesResponse;

  constructor(
    collector: CollectorClient,
    task: TaskResponse,
    known: BatchesResponse,
    state: ViewState,
    change: (changes: Partial<ViewState>) => void,
    taskIds: readonly string[],
  ) {
    this.#collector = collector;
    this.#cache = new EstimatesCache(collector);
    this.#task = task;
    this.#batchUnit = batchUnitOf(task.task);
    this.id = task.task.id;
    this.#state = state;
    this.#batchesResponse = known;
    this.#controls = new EstimatesControls(change);
    this.#madeUpReportsSection.showContent(null);
    const again = el("button", { type: "button", class: "quiet" }, "Refresh");
    again.addEventListener("click", () => {
      this.#cache.clear();
      void this.#loadAll();
    });
    this.element = el(
      "div",
      { class: "task" },
      el(
        "div",
        { class: "head" },
        el(
          "div",
          {},
          el("p", { class: "crumb" }, el("a", { href: "#tasks" }, "All tasks")),
          el("h1", { tabindex: -1 }, displayedName(task.task.id)),
          labelLinks(task.task.id, taskIds, state.question) ?? "",
          this.#facts,
        ),
        again,
      ),
      this.#controls.element,
      ...this.#sections.map(({ element }) => element),
    );
    this.#showCurrentBatches();
    void this.#loadAll();
  }

  get #sections(): readonly PageSection[] {
    return [
      this.#estimatesSection,
      this.#significance,
      this.#timeline,
      this.#batches,
      this.#privacy,
      this.#madeUpReportsSection,
      this.#rejectedUploadsSection,
    ];
  }

  get #selectedQuestion(): Question {
    const questions = questionsOf(this.#task.task);
    const named = questions.find(({ name }) => name === this.#state.question);
    return named ?? questions[0] ?? {};
  }

  /** Shows the question, batches and order that `state` describes. */
  showViewState(state: ViewState): void {
    const before = this.#state;
    this.#state = state;
    this.#showControls();
    const changed = before.question !== state.question || before.batches !== state.batches;
    void this.#loadEstimates(changed);
    if (before.batches !== state.batches) void this.#loadMadeUpInfluence();
  }

  /**
   * Shows the current batches. Returns true, and loads everything again, if there is a new release.
   */
  updateBatches(known: BatchesResponse): boolean {
    const before = this.#releasedRanges;
    this.#batchesResponse = known;
    this.#showCurrentBatches();
    if (before === this.#releasedRanges) return false;
    void this.#loadAll();
    return true;
  }

  /** Text with the numbers of the released batches, as ranges. */
  get #releasedRanges(): string {
    return formatAsRanges(releasedBatches(this.#batchesResponse).map(({ number }) => number));
  }

  /** Released batches whose estimates are shown: all of them, or those that the address selects. */
  get #selectedBatches(): readonly Batch[] {
    const { batches } = this.#state;
    const released = releasedBatches(this.#batchesResponse);
    if (batches === null) return released;
    const spans = batches.split(",").map((part) => part.split("-").map(Number));
    return released.filter(({ number }) =>
      spans.some(([from = 0, to = from]) => from <= number && number <= to),
    );
  }

  #showCurrentBatches(): void {
    const { task } = this.#task;
    const released = releasedBatches(this.#batchesResponse);
    const questions = questionsOf(task).length;
    const asks = questions > 1 ? `, for ${formatCount(questions)} questions` : "";
    const promise = isSumTaskResponse(this.#task)
      ? privacyPromiseText(this.#task.privacy)
      : `Each report protects ${this.#task.protects}.`;
    const collected = formatWithUnit(this.#batchUnit, totalReports(released));
    this.#facts.textContent = `${collected} in ${formatCountWithNoun(released.length, "release")}${asks}. ${promise}`;
    this.#showControls();
    this.#batches.showContent([
      el("h3", {}, `Batch ${openBatch(this.#batchesResponse)?.number ?? ""} is open`),
      ...drawOpenBatchProgress(this.#batchesResponse, this.#batchUnit, Date.now() / 1000),
      el("p", { class: "help" }, closingRule(this.#batchesResponse, this.#batchUnit)),
      ...[closedBatchTable(this.#batchesResponse, this.#batchUnit)].filter((list) => list !== null),
    ]);
  }

  #showControls(): void {
    const questions = questionsOf(this.#task.task);
    const released = releasedBatches(this.#batchesResponse);
    this.#controls.show(this.#state, questions, this.#selectedQuestion, released, this.#batchUnit);
  }

  /** Loads all sections. */
  async #loadAll(): Promise<void> {
    // The estimates come first, because people read them first.
    await this.#loadEstimates(true);
    await this.#privacy.load(async () => {
      const path = `${encodeURIComponent(this.id)}/privacy`;
      const task = this.#task;
      if (isSumTaskResponse(task)) {
        const response = this.#collector.getFromTasks<SumsPrivacyResponse>(path);
        const found = await responseOrUnreleasedReason(response);
        return sumsPrivacyView(task, typeof found === "string" ? null : found);
      }
      const response = this.#collector.getFromTasks<ReportsPrivacy>(path);
      return privacyView(task, await responseOrUnreleasedReason(response));
    });
    await this.#loadMadeUpInfluence();
    await this.#rejectedUploadsSection.load(async () =>
      uploadsView(
        parseUploadCounts(await this.#collector.metrics()),
        isSumTaskResponse(this.#task) ? "message" : "upload",
      ),
    );
  }

  /** Loads the estimates, the significant results and the time line. */
  async #loadEstimates(request: boolean): Promise<void> {
    if (this.#selectedQuestion.kind === "text") return this.#loadCommonTexts(request);
    let rows: EstimandRows | null = null;
    await this.#estimatesSection.load(async () => {
      const items = itemsToRequest(this.#selectedQuestion, this.#state.find);
      if (items?.length === 0) return [el("p", {}, this.#noItemsText())];
      const answer = await responseOrUnreleasedReason(
        this.#cache.getEstimates(
          this.id,
          this.#selectedQuestion,
          this.#estimatesQuery(items),
          this.#releasedRanges,
        ),
      );
      if (typeof answer === "string") {
        // The collector's own text counts people as reports.
        const words = isSumTaskResponse(this.#task)
          ? "No batch of this task is released yet."
          : answer;
        return [el("p", {}, words), drawOpenBatchBar(this.#batchesResponse, this.#batchUnit)];
      }
      rows = estimandRows(answer, this.#selectedQuestion, this.#state.estimand ?? undefined);
      if (rows !== null)
        this.#controls.showEstimands(
          this.#selectedQuestion.kind === "number" ? [] : estimandsInResponse(answer),
          rows.estimand,
          this.#selectedQuestion,
        );
      return this.#estimatesView(answer, rows);
    });
    const context = { ...this.#context, rows: rows as EstimandRows | null };
    await this.#significance.load(() => significanceView(context));
    await this.#timeline.load(() => timelineView(context, this.#matchingRows(context.rows)));
  }

  async #loadCommonTexts(request: boolean): Promise<void> {
    this.#significance.showContent(null);
    this.#timeline.showContent(null);
    this.#controls.showEstimands([], "share", this.#selectedQuestion);
    if (!request) return;
    const { name = "" } = this.#selectedQuestion;
    const path = `${encodeURIComponent(this.id)}/heavy-hitters?question=${encodeURIComponent(name)}`;
    await this.#estimatesSection.load(async () =>
      commonTextsView(await this.#collector.getFromTasks<HeavyHitters>(path)),
    );
  }

  async #loadMadeUpInfluence(): Promise<void> {
    const { batches } = this.#state;
    const query = batches === null ? "" : `?batches=${batches}`;
    await this.#madeUpReportsSection.load(async () => {
      const path = `${encodeURIComponent(this.id)}/influence${query}`;
      if (isSumTaskResponse(this.#task)) {
        const all = await responseOrUnreleasedReason(
          this.#collector.getFromTasks<SumInfluence>(path),
        );
        if (typeof all === "string") return null;
        const released = releasedBatches(this.#batchesResponse);
        return dishonestInfluenceView(
          all,
          await requestDishonestInfluence(this.#collector, this.id, released),
          this.#selectedQuestion,
        );
      }
      const found = await responseOrUnreleasedReason(
        this.#collector.getFromTasks<MadeUpReportsInfluence>(path),
      );
      return typeof found === "string" ? null : influenceView(found, questionsOf(this.#task.task));
    });
  }

  get #context() {
    return {
      taskId: this.id,
      question: this.#selectedQuestion,
      estimatesCache: this.#cache,
      releasedBatches: releasedBatches(this.#batchesResponse),
      selectedBatches: this.#selectedBatches,
      requestedItemNames: itemsToRequest(this.#selectedQuestion, this.#state.find),
      estimand: this.#state.estimand,
      confidence: CONFIDENCE,
    };
  }

  #estimatesQuery(items: readonly string[] | null) {
    return { batches: this.#state.batches, confidence: CONFIDENCE, items };
  }

  #noItemsText(): string {
    if (this.#state.find.trim() !== "") return "No item matches this name.";
    return "This question has no list of items. Enter the names to look up, separated by commas.";
  }

  /** Returns the rows whose names match the search, in the selected order. */
  #matchingRows(rows: EstimandRows | null): readonly EstimateRow[] {
    if (rows === null) return [];
    const open = (this.#selectedQuestion.items ?? this.#selectedQuestion.options) === "open";
    const sought = open ? "" : this.#state.find.trim();
    return sortedRows(
      rows.rows.filter(({ label }) => matchesSearch(label, sought)),
      this.#state.order,
    );
  }

  #estimatesView(answer: EstimatesResponse, rows: EstimandRows | null): SectionContent {
    const { reports = 0, people, messages = 0, confidence, bias_statement, memo_warning } = answer;
    if ((people ?? reports) === 0) {
      return [el("p", {}, "No report answers this question yet.")];
    }
    const of =
      people === undefined
        ? formatCountWithNoun(reports, "report")
        : `${formatWithUnit(this.#batchUnit, people)}, counted by ${formatCountWithNoun(messages, "message")}`;
    const batches = formatAsRanges(this.#selectedBatches.map(({ number }) => number));
    const about = el(
      "p",
      {},
      `${of}${batches === "" ? "" : `${people === undefined ? "" : ","} from ${batches.match(/[–,]/) ? "batches" : "batch"} ${batches}`}. A thick bar is the interval of one row, with ${confidence * 100}% confidence. A thin bar is the simultaneous interval, with ${confidence * 100}% confidence for all rows at once. A hollow dot marks an estimate that may be noise.`,
    );
    const missing = missingMessagesText(answer.missing_messages, this.#selectedQuestion);
    const notes = noteParagraphs(missing, bias_statement, memo_warning);
    if (this.#selectedQuestion.kind === "number") {
      const { warning, isUseful: useful } =
        people === undefined ? checkNumberSampleSize(answer) : { isUseful: true };
      return [
        el(
          "p",
          {},
          `${of}. With ${confidence * 100}% confidence, all intervals in one table or picture contain the true values.`,
        ),
        ...noteParagraphs(warning),
        ...notes,
        ...(useful ? numberView(answer, this.#selectedQuestion) : []),
      ];
    }
    // A cross-tabulation with the mean of a number has no shares of cells.
    if (rows === null) return [about, ...notes, ...crossView(answer)];
    const found = this.#matchingRows(rows);
    if (found.length === 0) return [about, el("p", {}, "No item matches this name.")];
    const drawn = found.slice(0, MAX_ROWS);
    const all = itemCount(this.#selectedQuestion) ?? rows.rows.length;
    const caption = tableCaption(rows, this.#selectedQuestion, drawn.length, found.length, all);
    const { warning, isUseful } =
      people === undefined
        ? checkSampleSize(reports, rows.estimand, rows.rows)
        : { isUseful: true };
    if (!isUseful) return [...noteParagraphs(warning), ...notes];
    return [
      about,
      ...noteParagraphs(warning),
      ...notes,
      dotTable(caption, rows, drawn),
      ...crossView(answer),
    ];
  }
}

function tableCaption(
  { rows, estimand }: EstimandRows,
  question: Question,
  drawn: number,
  found: number,
  all: number,
): string {
  const what = estimandTexts(estimand, question).short;
  if (rows.length < all)
    return `${what}: ${formatCount(drawn)} of ${formatCountWithNoun(all, "item")} shown; search by name for other items`;
  if (drawn < found)
    return `${what}: the first ${formatCount(drawn)} of ${formatCountWithNoun(found, "item")}; search by name for other items`;
  if (found < all) return `${what}: ${formatCount(found)} of ${formatCountWithNoun(all, "item")}`;
  return `${what}: ${formatCountWithNoun(found, "item")}`;
}

/**
 * Returns the response. If nothing is released yet, returns the collector's explanation as text.
 */
async function responseOrUnreleasedReason<T>(answer: Promise<T>): Promise<T | string> {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof CollectorError && thrown.problem === "nothing-released")
      return thrown.message;
    throw thrown;
  }
}
