// The form of questions, each with the options yes, no and not set.

import { byId, el } from "../shared/dom.js";
import type { Answers } from "./mechanism/mechanism.js";
import { answerWord, type Question } from "./questions.js";

/**
 * Form of the questions. It calls `onChange` after every change. `most` is the maximum number of
 * answers in a report.
 */
export class AnswersForm {
  readonly #form: HTMLFormElement;
  readonly #questions: readonly Question[];
  readonly #maxAnswersPerReport: number;

  constructor(
    form: HTMLFormElement,
    questions: readonly Question[],
    most: number,
    start: Answers,
    onChange: (answers: Answers) => void,
  ) {
    this.#form = form;
    this.#questions = questions;
    this.#maxAnswersPerReport = most;
    form.replaceChildren(
      ...questions.map((question, index) =>
        questionFieldset(question, index, start[question.item] ?? 0),
      ),
    );
    form.addEventListener("change", () => {
      this.#limit();
      onChange(this.answers);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    this.#limit();
  }

  /** Disables all unanswered questions if a report has no room for further answers. */
  #limit(): void {
    const answers = this.answers;
    const given = Object.keys(answers).length;
    const full = given >= this.#maxAnswersPerReport;
    for (const input of this.#form.querySelectorAll<HTMLInputElement>('input:not([value="0"])')) {
      input.disabled = full && !answers[input.name];
    }
    byId("answered").textContent = full
      ? `${given} of ${this.#maxAnswersPerReport} questions answered. Set one answer back to “not set” to answer another question.`
      : `${given} of ${this.#maxAnswersPerReport} questions answered.`;
  }

  get answers(): Answers {
    const data = new FormData(this.#form);
    const answers: Record<string, 1 | -1> = {};
    for (const { item } of this.#questions) {
      const value = data.get(item);
      if (value === "1") answers[item] = 1;
      if (value === "-1") answers[item] = -1;
    }
    return answers;
  }
}

function questionFieldset(
  { item, text }: Question,
  index: number,
  start: 1 | -1 | 0,
): HTMLFieldSetElement {
  const choices = ([1, -1, 0] as const).map((value) =>
    el(
      "label",
      {},
      el("input", { type: "radio", name: item, value, checked: value === start }),
      el("span", {}, capitalize(answerWord(value))),
    ),
  );
  return el(
    "fieldset",
    { class: "question" },
    el("legend", {}, el("span", { class: "index" }, `${index + 1}`), ` ${text}`),
    el("div", { class: "choices" }, ...choices),
  );
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
