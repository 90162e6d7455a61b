// Page of one task: its estimates, and the panels that explain them.

import { el } from "../demo/shared/dom.js";
import { count, counted } from "../demo/shared/format.js";
import {
  type Batch,
  type Batches,
  type Collector,
  type Estimates,
  type HeavyHitters,
  type Influence,
  isSums,
  type Privacy,
  type Question,
  Refused,
  type SumInfluence,
  type SumsPrivacy,
  type TaskAnswer,
} from "./api.js";
import { Answers, DRAWN, itemsToAsk } from "./asking.js";
import { Controls } from "./controls.js";
import { type Counting, countingOf, said } from "./counting.js";
import { crossView } from "./cross.js";
import { dots } from "./dots.js";
import { enough, enoughOfNumber } from "./enough.js";
import { brief, filling, listed, openOf, releasedOf, reportsOf, rule } from "./filling.js";
import { numberView } from "./histogram.js";
import { itemsOf, questionsOf, ranges, wordsOf } from "./labels.js";
import { uploadsOf } from "./metrics.js";
import { influenceView, notesOf, privacyView, textsView, uploadsView } from "./panels.js";
import { estimandsOf, matches, type Row, type Rows, rowsOf, sorted } from "./rows.js";
import { Section, type Shown } from "./section.js";
import { outstandingView } from "./standing.js";
import type { State } from "./state.js";
import { influenceOfEach, sumsInfluenceView, sumsPrivacyView, trustOf } from "./sums.js";
import { timelineView } from "./timeline-view.js";

/** Joint confidence of all intervals in a table or picture. */
export const CONFIDENCE = 0.95;

export class TaskPage {
  readonly element: HTMLElement;
  readonly id: string;
  readonly #collector: Collector;
  readonly #answers: Answers;
  readonly #task: TaskAnswer;
  readonly #controls: Controls;
  readonly #facts = el("p", { class: "facts" });
  readonly #estimates = new Section("estimates", "Estimates", "wide");
  readonly #standing = new Section("standing", "Significant results", "wide");
  readonly #timeline = new Section("timeline", "Estimates over time", "wide");
  readonly #batches = new Section("filling", "Batches");
  readonly #privacy = new Section("privacy", "Privacy");
  readonly #influence = new Section("influence", "Made-up reports");
  readonly #uploads = new Section("uploads", "Rejected uploads");
  readonly #counting: Counting;
  #state: State;
  #known: Batches;

  constructor(
    collector: Collector,
    task: TaskAnswer,
    known: Batches,
    state: State,
    change: (changes: Partial<State>) => void,
  ) {
    this.#collector = collector;
    this.#answers = new Answers(collector);
    this.#task = task;
    this.#counting = countingOf(task.task);
    this.id = task.task.id;
    this.#state = state;
    this.#known = known;
    this.#controls = new Controls(change);
    this.#influence.show(null);
    const again = el("button", { type: "button", class: "quiet" }, "Refresh");
    again.addEventListener("click", () => {
      this.#answers.forget();
      void this.#ask();
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
          el("h1", { tabindex: -1 }, task.task.id),
          this.#facts,
        ),
        again,
      ),
      this.#controls.element,
      ...this.#sections.map(({ element }) => element),
    );
    this.#showBatches();
    void this.#ask();
  }

  get #sections(): readonly Section[] {
    return [
      this.#estimates,
      this.#standing,
      this.#timeline,
      this.#batches,
      this.#privacy,
      this.#influence,
      this.#uploads,
    ];
  }

  get #question(): Question {
    const questions = questionsOf(this.#task.task);
    const named = questions.find(({ name }) => name === this.#state.question);
    return named ?? questions[0] ?? {};
  }

  /** Shows the view that `state` describes. */
  look(state: State): void {
    const before = this.#state;
    this.#state = state;
    this.#showControls();
    const asked = before.question !== state.question || before.batches !== state.batches;
    void this.#look(asked);
    if (before.batches !== state.batches) void this.#lookAtInfluence();
  }

  /** Updates the batches. Returns true if there is a new release. */
  update(known: Batches): boolean {
    const before = this.#releases;
    this.#known = known;
    this.#showBatches();
    if (before === this.#releases) return false;
    void this.#ask();
    return true;
  }

  /** Numbers of the released batches, as ranges. */
  get #releases(): string {
    return ranges(releasedOf(this.#known).map(({ number }) => number));
  }

  /** Released batches in view: all batches, or those that the address selects. */
  get #looked(): readonly Batch[] {
    const { batches } = this.#state;
    const released = releasedOf(this.#known);
    if (batches === null) return released;
    const spans = batches.split(",").map((part) => part.split("-").map(Number));
    return released.filter(({ number }) =>
      spans.some(([from = 0, to = from]) => from <= number && number <= to),
    );
  }

  #showBatches(): void {
    const { task } = this.#task;
    const released = releasedOf(this.#known);
    const questions = questionsOf(task).length;
    const asks = questions > 1 ? `, for ${count(questions)} questions` : "";
    const promise = isSums(this.#task)
      ? trustOf(this.#task.privacy)
      : `Each report protects ${this.#task.protects}.`;
    const collected = said(this.#counting, reportsOf(released));
    this.#facts.textContent = `${collected} in ${counted(released.length, "release")}${asks}. ${promise}`;
    this.#showControls();
    this.#batches.show([
      el("h3", {}, `Batch ${openOf(this.#known)?.number ?? ""} is open`),
      ...filling(this.#known, this.#counting, Date.now() / 1000),
      el("p", { class: "help" }, rule(this.#known, this.#counting)),
      ...[listed(this.#known, this.#counting)].filter((list) => list !== null),
    ]);
  }

  #showControls(): void {
    const questions = questionsOf(this.#task.task);
    const released = releasedOf(this.#known);
    this.#controls.show(this.#state, questions, this.#question, released, this.#counting);
  }

  /** Loads all sections. */
  async #ask(): Promise<void> {
    // The estimates come first, because people read them first.
    await this.#look(true);
    await this.#privacy.load(async () => {
      const path = `${encodeURIComponent(this.id)}/privacy`;
      const task = this.#task;
      if (isSums(task)) {
        const asked = this.#collector.ask<SumsPrivacy>(path);
        const found = await askedWhenReleased(asked);
        return sumsPrivacyView(task, typeof found === "string" ? null : found);
      }
      const asked = this.#collector.ask<Privacy>(path);
      return privacyView(task, await askedWhenReleased(asked));
    });
    await this.#lookAtInfluence();
    await this.#uploads.load(async () => uploadsView(uploadsOf(await this.#collector.metrics())));
  }

  /** Loads the estimates, the significant results and the time line. */
  async #look(asked: boolean): Promise<void> {
    if (this.#question.kind === "text") return this.#lookAtTexts(asked);
    let rows: Rows | null = null;
    await this.#estimates.load(async () => {
      const items = itemsToAsk(this.#question, this.#state.find);
      if (items?.length === 0) return [el("p", {}, this.#nothingSought())];
      const answer = await askedWhenReleased(
        this.#answers.estimates(this.id, this.#question, this.#asked(items), this.#releases),
      );
      if (typeof answer === "string") {
        // The collector's own text counts messages instead of people.
        const words = isSums(this.#task) ? "No batch of this task is released yet." : answer;
        return [el("p", {}, words), brief(this.#known, this.#counting)];
      }
      rows = rowsOf(answer, this.#question, this.#state.estimand ?? undefined);
      if (rows !== null)
        this.#controls.estimands(
          this.#question.kind === "number" ? [] : estimandsOf(answer),
          rows.estimand,
          this.#question,
        );
      return this.#estimatesView(answer, rows);
    });
    const context = { ...this.#context, rows: rows as Rows | null };
    await this.#standing.load(() => outstandingView(context));
    await this.#timeline.load(() => timelineView(context, this.#shownOf(context.rows)));
  }

  async #lookAtTexts(asked: boolean): Promise<void> {
    this.#standing.show(null);
    this.#timeline.show(null);
    this.#controls.estimands([], "share", this.#question);
    if (!asked) return;
    const { name = "" } = this.#question;
    const path = `${encodeURIComponent(this.id)}/heavy-hitters?question=${encodeURIComponent(name)}`;
    await this.#estimates.load(async () =>
      textsView(await this.#collector.ask<HeavyHitters>(path)),
    );
  }

  async #lookAtInfluence(): Promise<void> {
    const { batches } = this.#state;
    const query = batches === null ? "" : `?batches=${batches}`;
    await this.#influence.load(async () => {
      const path = `${encodeURIComponent(this.id)}/influence${query}`;
      if (isSums(this.#task)) {
        const all = await askedWhenReleased(this.#collector.ask<SumInfluence>(path));
        if (typeof all === "string") return null;
        const released = releasedOf(this.#known);
        return sumsInfluenceView(all, await influenceOfEach(this.#collector, this.id, released));
      }
      const found = await askedWhenReleased(this.#collector.ask<Influence>(path));
      return typeof found === "string" ? null : influenceView(found, questionsOf(this.#task.task));
    });
  }

  get #context() {
    return {
      task: this.id,
      question: this.#question,
      answers: this.#answers,
      released: releasedOf(this.#known),
      looked: this.#looked,
      items: itemsToAsk(this.#question, this.#state.find),
      estimand: this.#state.estimand,
      confidence: CONFIDENCE,
    };
  }

  #asked(items: readonly string[] | null) {
    return { batches: this.#state.batches, confidence: CONFIDENCE, items };
  }

  #nothingSought(): string {
    if (this.#state.find.trim() !== "") return "No item matches this name.";
    return "This question has no list of items. Enter the names to look up, separated by commas.";
  }

  /** Returns the rows that match the search, in the selected order. */
  #shownOf(rows: Rows | null): readonly Row[] {
    if (rows === null) return [];
    const open = (this.#question.items ?? this.#question.options) === "open";
    const sought = open ? "" : this.#state.find.trim();
    return sorted(
      rows.rows.filter(({ label }) => matches(label, sought)),
      this.#state.order,
    );
  }

  #estimatesView(answer: Estimates, rows: Rows | null): Shown {
    const { reports = 0, people, messages = 0, confidence, bias, repeats } = answer;
    if ((people ?? reports) === 0) {
      return [el("p", {}, "No report answers this question yet.")];
    }
    const of =
      people === undefined
        ? counted(reports, "report")
        : `${said(this.#counting, messages)}, counted by ${counted(messages, "message")},`;
    const batches = ranges(this.#looked.map(({ number }) => number));
    const about = el(
      "p",
      {},
      `${of}${batches === "" ? "" : ` from ${batches.match(/[–,]/) ? "batches" : "batch"} ${batches}`}. A thick bar is the interval of one row, with ${confidence * 100}% confidence. A thin bar is the simultaneous interval, with ${confidence * 100}% confidence for all rows at once. A hollow dot marks an estimate that may be noise.`,
    );
    const notes = notesOf(bias, repeats);
    if (this.#question.kind === "number") {
      const { words, shown } = enoughOfNumber(answer);
      return [
        el(
          "p",
          {},
          `${counted(reports, "report")}. All intervals in one table or picture hold at once with ${confidence * 100}% confidence.`,
        ),
        ...notesOf(words),
        ...notes,
        ...(shown ? numberView(answer, this.#question) : []),
      ];
    }
    // A cross-tabulation with the mean of a number has no shares of cells.
    if (rows === null) return [about, ...notes, ...crossView(answer)];
    const found = this.#shownOf(rows);
    if (found.length === 0) return [about, el("p", {}, "No item matches this name.")];
    const drawn = found.slice(0, DRAWN);
    const all = itemsOf(this.#question) ?? rows.rows.length;
    const caption = captionOf(rows, this.#question, drawn.length, found.length, all);
    const { words, shown } =
      people === undefined ? enough(reports, rows.estimand, rows.rows) : { shown: true };
    if (!shown) return [...notesOf(words), ...notes];
    return [about, ...notesOf(words), ...notes, dots(caption, rows, drawn), ...crossView(answer)];
  }
}

function captionOf(
  { rows, estimand }: Rows,
  question: Question,
  drawn: number,
  found: number,
  all: number,
): string {
  const what = wordsOf(estimand, question).short;
  if (rows.length < all)
    return `${what}: ${count(drawn)} of ${counted(all, "item")} shown; search by name for other items`;
  if (drawn < found)
    return `${what}: the first ${count(drawn)} of ${counted(found, "item")}; search by name for other items`;
  if (found < all) return `${what}: ${count(found)} of ${counted(all, "item")}`;
  return `${what}: ${counted(found, "item")}`;
}

/** Returns a response, or the reason as text if nothing is released yet. */
async function askedWhenReleased<T>(answer: Promise<T>): Promise<T | string> {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof Refused && thrown.problem === "nothing-released") return thrown.message;
    throw thrown;
  }
}
