// The list of a plan's questions. A person selects the question that the form shows, and adds or
// removes questions.

import { el } from "../shared/dom.js";

/** Functions that the list calls when a person selects, adds or removes a question. */
interface QuestionListActions {
  readonly pick: (at: number) => void;
  readonly add: () => void;
  readonly remove: () => void;
}

export class QuestionList {
  readonly element: HTMLElement;
  readonly #choices = el("div", { class: "choices" });
  readonly #choiceFieldset = el(
    "fieldset",
    { class: "choice", hidden: true },
    el("legend", {}, "Questions (each report answers one)"),
    this.#choices,
  );
  readonly #add = el("button", { type: "button", class: "quiet" }, "Add a question");
  readonly #remove = el("button", { type: "button", class: "quiet", hidden: true });

  constructor({ pick, add, remove }: QuestionListActions) {
    this.element = el(
      "div",
      { class: "questions" },
      this.#choiceFieldset,
      el("div", { class: "buttons" }, this.#add, this.#remove),
    );
    this.#choices.addEventListener("change", (event) => {
      pick(Number((event.target as HTMLInputElement).value) - 1);
    });
    // The focus moves to the question that is now shown, so that screen readers announce it.
    this.#add.addEventListener("click", () => {
      add();
      this.#focus();
    });
    this.#remove.addEventListener("click", () => {
      remove();
      this.#focus();
    });
  }

  /** Shows questions by their names. `at` is the index of the selected one. */
  show(names: readonly string[], at: number): void {
    const radios = this.#choices.getElementsByTagName("input");
    while (radios.length > names.length) this.#choices.lastElementChild?.remove();
    while (radios.length < names.length) {
      const radio = el("input", { type: "radio", name: "question", value: radios.length + 1 });
      this.#choices.append(el("label", {}, radio, el("span")));
    }
    for (const [index, label] of [...this.#choices.children].entries()) {
      const [radio, name] = label.children;
      (radio as HTMLInputElement).checked = index === at;
      if (name) name.textContent = names[index] ?? "";
    }
    const several = names.length > 1;
    this.#choiceFieldset.hidden = !several;
    this.#remove.hidden = !several;
    this.#remove.textContent = `Remove ${names[at]}`;
  }

  #focus(): void {
    const shown = this.#choices.querySelector<HTMLInputElement>("input:checked");
    if (shown && !this.#choiceFieldset.hidden) shown.focus();
    else this.#add.focus();
  }
}
