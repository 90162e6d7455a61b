// The local report and the messages of one person, and what an observer learns from each.

import type { Both, BothSent } from "../../shared/analysis.js";
import { byId, el } from "../../shared/dom.js";
import {
  formatCount,
  formatCountWithNoun,
  formatHexByte,
  formatThreeDigits,
} from "../../shared/format.js";
import { browsingAnswersOf } from "./people.js";
import { BROWSING_TASK, formatWithUnit, numberLabel } from "./task.js";

export class SentDataView {
  readonly #getCurrentSimulation: () => Both;
  readonly #onTrouble: (error: unknown) => void;
  #person = 0;

  constructor(both: () => Both, onTrouble: (error: unknown) => void) {
    this.#getCurrentSimulation = both;
    this.#onTrouble = onTrouble;
    byId("both-again").addEventListener("click", () => {
      this.#person += 1;
      this.show();
    });
  }

  show(): void {
    try {
      const answer = browsingAnswersOf(this.#person);
      const sent = this.#getCurrentSimulation().randomizePerson(Float64Array.from(answer));
      byId("both-answer").textContent =
        `Person ${formatCount(this.#person + 1)} answers ${answersInWords(answer)}.`;
      showReport(sent);
      showMessages(sent);
    } catch (error) {
      this.#onTrouble(error);
    }
  }
}

const taskNumberByName = (item: string) => BROWSING_TASK.numbers.find(({ name }) => name === item);

function formatAnswer(item: string, value: number): string {
  const { min = 0, max = 1, ...own } = taskNumberByName(item) ?? {};
  const unit = "unit" in own ? own.unit : undefined;
  return formatWithUnit(value, [min, max], unit);
}

function answersInWords(answer: readonly number[]): string {
  const said = BROWSING_TASK.numbers.map(
    ({ name }, index) =>
      `${numberLabel(name).toLowerCase()} ${formatAnswer(name, answer[index] ?? 0)}`,
  );
  return said.join(", ");
}

function showReport({ report, told, most }: BothSent): void {
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
  byId("both-told-text").textContent =
    `The table shows the factor by which these bytes change the odds of a number’s maximum against its minimum. Every report has factors between 1/${formatThreeDigits(most)} and ${formatThreeDigits(most)}.`;
}

function showMessages({ messages, read }: BothSent): void {
  const chips = messages.map(({ item, up }) =>
    item === null
      ? el("li", { class: "posted", "data-way": "blank" }, "blank")
      : el("li", { class: "posted", "data-way": up ? "up" : "down" }, `${item} ${up ? "▲" : "▼"}`),
  );
  byId("both-messages").replaceChildren(...chips);
  const rows = read.map(({ item, answered, counts: [up, down], read: found, give }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, numberLabel(item)),
      el("td", {}, `${up} ▲, ${down} ▼`),
      el("td", {}, `${formatAnswer(item, found)} ± ${formatAnswer(item, give)}`),
      el("td", {}, formatAnswer(item, answered)),
    ),
  );
  byId("both-read").replaceChildren(...rows);
}
