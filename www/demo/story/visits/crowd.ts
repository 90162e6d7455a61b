// The controls of the invented visitors: how many there are, and a button that sends the reports.

import { byId, el } from "../../shared/dom.js";
import { formatCount, formatCountWithNoun } from "../../shared/format.js";
import { growCrowd, growthOutcomeText, INTERRUPTED_TEXT } from "../growth.js";
import type { VisitsChannel } from "./channel.js";
import { drawVisits } from "./people.js";

/** Numbers of invented people to choose from. */
const SIZES = [100, 1000, 10_000, 30_000, 100_000];
const SIZE_AT_FIRST = 10_000;

export interface VisitsCrowdOptions {
  readonly channel: VisitsChannel;
  /** Called after every acknowledged upload. */
  readonly onSent: () => void;
  readonly onDone: () => void;
  readonly onTrouble: (error: unknown) => void;
}

export class VisitsCrowdView {
  readonly #options: VisitsCrowdOptions;
  readonly #size = byId<HTMLSelectElement>("visits-size");
  readonly #button = byId<HTMLButtonElement>("visits-grow");
  readonly #bar = byId<HTMLProgressElement>("visits-growth");
  readonly #text = byId("visits-growth-text");
  #growthAbortController: AbortController | null = null;

  constructor(options: VisitsCrowdOptions) {
    this.#options = options;
    this.#size.append(
      ...SIZES.map((value) =>
        el("option", { value, selected: value === SIZE_AT_FIRST }, `${formatCount(value)} people`),
      ),
    );
    this.#button.addEventListener("click", () => {
      if (this.#growthAbortController) this.#growthAbortController.abort();
      else void this.#grow(Number(this.#size.value));
    });
    this.refresh();
  }

  /** Updates the displayed number of people who have reported. */
  refresh(): void {
    const { crowdSize: crowd } = this.#options.channel;
    byId("visits-people").textContent = formatCount(crowd);
    for (const option of this.#size.options) option.disabled = Number(option.value) <= crowd;
    if (this.#size.selectedOptions[0]?.disabled) {
      this.#size.value = String(SIZES.find((size) => size > crowd) ?? this.#size.value);
    }
  }

  async #grow(target: number): Promise<void> {
    const { channel, onSent, onDone, onTrouble } = this.#options;
    const people = target - channel.crowdSize;
    if (people <= 0) {
      this.#text.textContent =
        "These people have already reported. Sent reports cannot be taken back, so a crowd only grows.";
      return;
    }
    const growing = new AbortController();
    this.#growthAbortController = growing;
    this.#button.textContent = "Stop";
    this.#bar.hidden = false;
    this.#bar.value = 0;
    this.#text.textContent = `Randomising and sending ${formatCountWithNoun(people, "report")} …`;
    let sent = 0;
    try {
      await growCrowd({
        people,
        draw: drawVisits,
        countReportedPeople: () => channel.crowdSize,
        randomizer: channel.randomizer,
        sender: channel.sender,
        signal: growing.signal,
        onProgress: (progress) => {
          sent = progress.sent;
          this.#bar.value = sent / people;
          this.refresh();
          onSent();
        },
      });
      this.#text.textContent = growthOutcomeText(sent, growing.signal.aborted);
    } catch (error) {
      this.#text.textContent = INTERRUPTED_TEXT;
      onTrouble(error);
    } finally {
      this.#growthAbortController = null;
      this.#button.textContent = "Send the crowd’s reports";
      this.#bar.hidden = true;
      onDone();
    }
  }
}
