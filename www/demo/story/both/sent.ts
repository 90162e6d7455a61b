// The local report and the messages of one person, and what an observer learns from each.

import type { Both, BothSent } from "../../shared/analysis.js";
import { byId, el } from "../../shared/dom.js";
import {
  formatCount,
  formatCountWithNoun,
  formatHexByte,
  formatThreeDigits,
} from "../../shared/format.js";
import { formatWithUnit, numberLabel } from "./task.js";
import type { Topic } from "./topics.js";

export class SentDataView {
  readonly #getCurrentSimulation: () => readonly [Both, Topic];
  readonly #onTrouble: (error: unknown) => void;
  #person = 0;

  constructor(both: () => readonly [Both, Topic], onTrouble: (error: unknown) => void) {
    this.#getCurrentSimulation = both;
    this.#onTrouble = onTrouble;
    byId("both-again").addEventListener("click", () => {
      this.#person += 1;
      this.show();
    });
  }

  show(): void {
    try {
      const [simulation, topic] = this.#getCurrentSimulation();
      const answer = topic.answersOf(this.#person);
      const sent = simulation.randomizePerson(Float64Array.from(answer));
      byId("both-answer").textContent =
        `Person ${formatCount(this.#person + 1)} answers ${topic.answersInWords(answer)}.`;
      showReport(sent, topic);
      showMessages(sent, topic);
    } catch (error) {
      this.#onTrouble(error);
    }
  }
}

/** Formats a number of a person, or in per cent how likely the person has chosen an option. */
function formatAnswer({ task }: Topic, item: string, value: number): string {
  const found = task.numbers?.find(({ name }) => name === item);
  return found
    ? formatWithUnit(value, [found.min, found.max], found.unit)
    : formatWithUnit(value, [0, 100], "%");
}

function showReport({ report, told, most }: BothSent, { item, oddsText }: Topic): void {
  const bytes = report.map((byte) => el("span", { class: "byte" }, formatHexByte(byte)));
  byId("both-report").replaceChildren(...bytes);
  byId("both-report").setAttribute(
    "aria-label",
    `${formatCountWithNoun(report.length, "byte")} of a report`,
  );
  const rows = told.map(({ label, ratio }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, numberLabel(label)),
      el("td", {}, ratio === 1 ? "unchanged" : `× ${formatThreeDigits(ratio)}`),
    ),
  );
  byId("both-told").replaceChildren(...rows);
  byId("both-told-text").textContent = oddsText(formatThreeDigits(most));
  byId("both-told-item").textContent = item;
}

function showMessages({ messages, read }: BothSent, topic: Topic): void {
  const isChoice = topic.task.questions !== undefined;
  const arrow = (up: boolean) => (up ? "▲" : "▼");
  const chips = messages.map(({ item, up }) =>
    item === null
      ? el("li", { class: "posted", "data-way": "blank" }, "blank")
      : el(
          "li",
          { class: "posted", "data-way": up ? "up" : "down" },
          isChoice ? item : `${item} ${arrow(up)}`,
        ),
  );
  byId("both-messages-text").textContent = topic.messagesText;
  byId("both-read-item").textContent = topic.item;
  byId("both-messages").replaceChildren(...chips);
  const rows = read.map(({ item, answered, counts: [up, down], read: found, give }) => {
    const format = (value: number) => formatAnswer(topic, item, value);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, numberLabel(item)),
      el("td", {}, isChoice ? String(up) : `${up} ▲, ${down} ▼`),
      el("td", {}, `${format(found)} ± ${format(give)}`),
      el("td", {}, format(answered)),
    );
  });
  byId("both-read").replaceChildren(...rows);
}
