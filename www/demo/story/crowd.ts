// The controls of the crowd: the slider that sets its size, the progress, and the shares of its
// answers.

import { byId, el } from "../shared/dom.js";
import { formatCount, formatCountWithNoun, formatPercent } from "../shared/format.js";
import type { MechanismChannel } from "./channel.js";
import { type GrowthProgress, growCrowd, growthOutcomeText, INTERRUPTED_TEXT } from "./growth.js";
import { type AnswerShares, drawPeople, withAnswerShare } from "./habits.js";
import type { Question } from "./questions.js";

/** Numbers of people that the slider offers: 1, 2 and 5 times each power of ten. */
export const SIZES: readonly number[] = [
  0, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000,
];
/**
 * Time in ms for which the slider must rest before the crowd grows. Arrow keys can skip sizes
 * meanwhile.
 */
const SLIDER_REST_MS = 500;

export interface CrowdOptions {
  readonly questions: readonly Question[];
  /** Returns the channel of the chosen mechanism, whose crowd the slider grows. */
  readonly chosenChannel: () => MechanismChannel;
  readonly channels: readonly MechanismChannel[];
  /** Called after every acknowledged upload. */
  readonly onSent: (channel: MechanismChannel) => void;
  readonly onDone: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export class CrowdView {
  readonly #options: CrowdOptions;
  readonly #slider = byId<HTMLInputElement>("size");
  readonly #stopButton = byId<HTMLButtonElement>("stop");
  readonly #bar = byId<HTMLProgressElement>("growth");
  #answerShares: AnswerShares;
  #sliderRestTimer: ReturnType<typeof setTimeout> | undefined;
  #growthAbortController: AbortController | null = null;
  /** Number of people that the slider was last set to. −1 forces the next update. */
  #shown = -1;

  constructor(options: CrowdOptions) {
    this.#options = options;
    this.#answerShares = options.questions;
    this.#slider.max = String(SIZES.length - 1);
    byId("size-ticks").replaceChildren(
      ...SIZES.map((size) =>
        el(
          "span",
          { class: "tick-label" },
          /^1?0*$/.test(String(size)) ? formatSizeBriefly(size) : "",
        ),
      ),
    );
    this.#slider.addEventListener("input", () => {
      this.#showSize();
      clearTimeout(this.#sliderRestTimer);
    });
    this.#slider.addEventListener("change", () => {
      clearTimeout(this.#sliderRestTimer);
      this.#sliderRestTimer = setTimeout(() => void this.#growToSlider(), SLIDER_REST_MS);
    });
    this.#stopButton.addEventListener("click", () => this.#growthAbortController?.abort());
    byId("catch-up").addEventListener("click", () => void this.#equaliseCrowds());
    this.#createShareSliders();
    this.refreshCrowdSize();
  }

  /** Updates the displayed number of people, for example after another tab has sent a report. */
  refreshCrowdSize(): void {
    const { inventedReporterCount: people, mechanismInfo: kind } = this.#options.chosenChannel();
    byId("size-mechanism").textContent = kind.name;
    byId("figure-people").textContent = formatCount(people);
    // An update must not move the slider while the crowd grows or a person moves it.
    if (this.#growthAbortController || people === this.#shown) return;
    this.#shown = people;
    this.#setSlider(people);
  }

  #setSlider(people: number): void {
    const steps = SIZES.filter((size) => size <= people).length;
    this.#slider.value = String(steps - 1);
    this.#showSize(people);
  }

  #showSize(people = SIZES[this.#slider.valueAsNumber] ?? 0): void {
    const text = people === 1 ? "1 person" : `${formatCount(people)} people`;
    byId("size-out").textContent = text;
    this.#slider.setAttribute("aria-valuetext", text);
  }

  /** Shows the crowd of another mechanism, and stops the growth of the previous crowd. */
  onSwitch(): void {
    clearTimeout(this.#sliderRestTimer);
    this.#growthAbortController?.abort();
    this.#shown = -1;
    byId("growth-text").textContent = "";
    for (const id of ["figure-randomised", "figure-acknowledged"]) byId(id).textContent = "–";
    this.refreshCrowdSize();
  }

  async #growToSlider(): Promise<void> {
    const target = SIZES[this.#slider.valueAsNumber] ?? 0;
    if (this.#growthAbortController) {
      // Finish the current upload, then continue to the new size.
      this.#growthAbortController.abort();
      this.#sliderRestTimer = setTimeout(() => void this.#growToSlider(), 50);
      return;
    }
    const channel = this.#options.chosenChannel();
    const already = channel.inventedReporterCount;
    if (target <= already) {
      byId("growth-text").textContent =
        target < already ? "Sent reports cannot be taken back, so a crowd only grows." : "";
      this.#setSlider(already);
      return;
    }
    await this.#grow([channel], target);
  }

  /**
   * Makes the people of the largest crowd report under all mechanisms, so that all crowds have the
   * same size.
   */
  async #equaliseCrowds(): Promise<void> {
    const { channels } = this.#options;
    if (this.#growthAbortController) return;
    const most = Math.max(...channels.map(({ inventedReporterCount: crowd }) => crowd));
    await this.#grow(
      channels.filter(({ inventedReporterCount: crowd }) => crowd < most),
      most,
    );
  }

  /** Grows the crowds of these channels to `target` people, one channel after the other. */
  async #grow(channels: readonly MechanismChannel[], target: number): Promise<void> {
    const { onSent, onDone, onTrouble } = this.#options;
    const growing = new AbortController();
    this.#growthAbortController = growing;
    this.#showGrowing(true);
    const status = byId("growth-text");
    const missing = channels.reduce(
      (sum, { inventedReporterCount: crowd }) => sum + target - crowd,
      0,
    );
    status.textContent = `Randomising and sending ${formatCountWithNoun(missing, "report")} …`;
    this.#bar.max = missing;
    this.#bar.value = 0;
    let sent = 0;
    try {
      for (const channel of channels) {
        const before = sent;
        await growCrowd({
          people: target - channel.inventedReporterCount,
          draw: (first, people) =>
            drawPeople(this.#answerShares, {
              first,
              people,
              most: channel.taskResponse.task.sparsity,
            }),
          countReportedPeople: () => channel.inventedReporterCount,
          randomizer: channel.randomizer,
          sender: channel.sender,
          signal: growing.signal,
          onProgress: (progress) => {
            sent = before + progress.sent;
            this.#bar.value = sent;
            if (!growing.signal.aborted) this.#showGrowthFigures(progress);
            onSent(channel);
          },
        });
      }
      status.textContent = growthOutcomeText(sent, growing.signal.aborted);
    } catch (error) {
      status.textContent = INTERRUPTED_TEXT;
      onTrouble(error);
    } finally {
      this.#growthAbortController = null;
      this.#showGrowing(false);
      this.#shown = -1;
      this.refreshCrowdSize();
      onDone();
    }
  }

  #showGrowing(growing: boolean): void {
    // A hidden button loses the focus, so move it to the slider.
    if (!growing && document.activeElement === this.#stopButton) this.#slider.focus();
    byId("growing").hidden = !growing;
    byId<HTMLButtonElement>("catch-up").disabled = growing;
    byId("size-help").hidden = growing;
  }

  #showGrowthFigures({
    randomisedPerSecond: randomised,
    acknowledgedPerSecond: acknowledged,
  }: GrowthProgress): void {
    byId("figure-people").textContent = formatCount(
      this.#options.chosenChannel().inventedReporterCount,
    );
    byId("figure-randomised").textContent = Number.isFinite(randomised)
      ? formatCount(randomised)
      : "–";
    byId("figure-acknowledged").textContent = formatCount(acknowledged);
  }

  #createShareSliders(): void {
    const outputs: (() => void)[] = [];
    const slider = (index: number, side: "yes" | "no", label: string) => {
      const input = el("input", {
        type: "range",
        min: 0,
        max: 100,
        "aria-label": `${label}: ${side}`,
      });
      const output = el("output");
      input.addEventListener("input", () => {
        this.#answerShares = this.#answerShares.map((habit, at) =>
          at === index ? withAnswerShare(habit, side, input.valueAsNumber / 100) : habit,
        );
        for (const refresh of outputs) refresh();
      });
      outputs.push(() => {
        const share = this.#answerShares[index]?.[side] ?? 0;
        input.value = String(Math.round(share * 100));
        input.setAttribute("aria-valuetext", formatPercent(share));
        output.textContent = `${side} ${formatPercent(share)}`;
      });
      return el("span", { class: "habit-side" }, input, output);
    };
    byId("habits").replaceChildren(
      ...this.#options.questions.map(({ label }, index) =>
        el(
          "div",
          { class: "habit" },
          el("span", { class: "habit-label" }, label),
          slider(index, "yes", label),
          slider(index, "no", label),
        ),
      ),
    );
    for (const refresh of outputs) refresh();
  }
}

function formatSizeBriefly(size: number): string {
  return size >= 1000 ? `${size / 1000}k` : String(size);
}
