// Controls above the estimates, which choose the question, the batches, the estimand, the order and
// the searched names.

import { displayedName } from "../client/displayed-name.js";
import { el } from "../demo/shared/dom.js";
import { formatCount } from "../demo/shared/format.js";
import type { Batch, Estimand, Question } from "./api.js";
import { type BatchUnit, formatWithUnit } from "./batch-unit.js";
import { estimandTexts, hasRealValuedItems, KIND_DESCRIPTIONS } from "./labels.js";
import { ORDER_WORDS, ORDERS } from "./rows.js";
import { DEFAULT_STATE, type ViewState } from "./state.js";

/** Maximum number of single batches to choose from. */
const MAX_BATCHES = 50;
/** Time in milliseconds from the last key press in the search field to the request. */
const SEARCH_AFTER_MS = 250;

type SelectOption = readonly [value: string, words: string];

/** Drop-down list with a label. */
class DropDown {
  readonly element: HTMLElement;
  readonly #select: HTMLSelectElement;

  constructor(id: string, label: string, pick: (value: string) => void) {
    this.#select = el("select", { id });
    this.#select.addEventListener("change", () => pick(this.#select.value));
    this.element = el(
      "div",
      { class: "pick", hidden: true },
      el("label", { for: id }, label),
      this.#select,
    );
  }

  /**
   * Shows the options and selects `value`. Hides the control if there are fewer than two options.
   */
  show(options: readonly SelectOption[], value: string): void {
    this.element.hidden = options.length < 2;
    const made = options.map(([own, words]) => el("option", { value: own }, words));
    this.#select.replaceChildren(...made);
    this.#select.value = value;
  }
}

export class EstimatesControls {
  readonly element: HTMLElement;
  readonly #question: DropDown;
  readonly #batches: DropDown;
  readonly #estimand: DropDown;
  readonly #order: DropDown;
  readonly #searchField: HTMLInputElement;
  readonly #searchControl: HTMLElement;

  constructor(change: (changes: Partial<ViewState>) => void) {
    this.#question = new DropDown("question", "Question", (question) =>
      change({ question, estimand: null, find: "" }),
    );
    this.#batches = new DropDown("batches", "Batches", (own) =>
      change({ batches: own === "" ? null : own }),
    );
    this.#estimand = new DropDown("estimand", "Estimate", (own) =>
      change({ estimand: own as Estimand }),
    );
    this.#order = new DropDown("order", "Order of rows", (own) =>
      change({ order: ORDERS.find((order) => order === own) ?? DEFAULT_STATE.order }),
    );
    this.#searchField = el("input", {
      id: "find",
      type: "search",
      autocomplete: "off",
      spellcheck: "false",
    });
    let due = 0;
    this.#searchField.addEventListener("input", () => {
      clearTimeout(due);
      due = window.setTimeout(() => change({ find: this.#searchField.value }), SEARCH_AFTER_MS);
    });
    this.#searchControl = el(
      "div",
      { class: "pick grow" },
      el("label", { for: "find" }, "Find items by name"),
      this.#searchField,
    );
    this.element = el(
      "search",
      { class: "controls", "aria-label": "Filter the estimates" },
      ...[this.#question, this.#batches, this.#estimand, this.#order].map(({ element }) => element),
      this.#searchControl,
    );
  }

  /** Shows the questions and batches to choose from, and selects the current ones. */
  show(
    state: ViewState,
    questions: readonly Question[],
    current: Question,
    released: readonly Batch[],
    unit: BatchUnit,
  ): void {
    this.#question.show(
      questions.map(({ name = "", kind = "" }) => [
        name,
        `${displayedName(name)}: ${KIND_DESCRIPTIONS[kind] ?? kind}`,
      ]),
      current.name ?? "",
    );
    const picked = [...released].reverse().slice(0, MAX_BATCHES);
    const own = state.batches;
    const others: SelectOption[] =
      own === null || picked.some(({ number }) => String(number) === own)
        ? []
        : [[own, `Batches ${own}`]];
    this.#batches.show(
      [
        [
          "",
          released.length > 1
            ? `All ${formatCount(released.length)} released batches`
            : "All released batches",
        ],
        ...others,
        ...picked.map(
          ({ number, reports }): SelectOption => [
            String(number),
            `Batch ${number}: ${formatWithUnit(unit, reports)}`,
          ],
        ),
      ],
      own ?? "",
    );
    const lists = !["number", "text"].includes(current.kind ?? "");
    this.#order.show(lists ? ORDERS.map((order) => [order, ORDER_WORDS[order]]) : [], state.order);
    this.#searchControl.hidden = !lists;
    // Does not overwrite a search while the user types.
    if (document.activeElement !== this.#searchField) this.#searchField.value = state.find;
  }

  /** Shows the estimands to choose from, and selects the current one. */
  showEstimands(there: readonly Estimand[], current: Estimand, question: Question): void {
    this.#estimand.show(
      there.map((own) => [
        own,
        own === "mean" && hasRealValuedItems(question) ? "mean" : estimandTexts(own, question).long,
      ]),
      current,
    );
  }
}
