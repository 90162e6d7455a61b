// The controls of the form: sliders with number fields, lists, and choices.

import { el, setAttributes } from "../shared/dom.js";
import type { FieldText, NumberField } from "./fields.js";
import { parseNumber } from "./state.js";
import { nearestStopIndex } from "./stops.js";

/** Error message below a field. */
class FieldErrorMessage {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;

  constructor(id: string, input: HTMLInputElement) {
    this.element = el("p", { id, class: "field-error", hidden: true });
    this.#input = input;
  }

  /** Shows the message, or hides the paragraph if the message is null. */
  show(message: string | null): void {
    setAttributes(this.#input, { "aria-invalid": message !== null && "true" });
    this.element.hidden = message === null;
    // Screen readers would announce an unchanged text again.
    if (this.element.textContent !== (message ?? "")) this.element.textContent = message ?? "";
  }
}

/** Control for a number, with a slider and a text field. Both always show the same value. */
export class NumberControl {
  readonly element: HTMLElement;
  readonly #field: NumberField;
  readonly #slider: HTMLInputElement;
  readonly #number: HTMLInputElement;
  readonly #error: FieldErrorMessage;

  constructor(name: string, field: NumberField, onChange: (value: number) => void) {
    const { label, unit, help, stops } = field;
    const [id, helpId, errorId] = [`field-${name}`, `help-${name}`, `error-${name}`];
    this.#field = field;
    this.#number = el("input", {
      id,
      // In a number field browsers drop the comma: "0,7" becomes 7.
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-describedby": `${errorId} ${helpId}`,
    });
    this.#slider = el("input", {
      type: "range",
      min: 0,
      max: stops.length - 1,
      step: 1,
      "aria-label": `${label}, slider`,
      "aria-describedby": helpId,
    });
    this.#error = new FieldErrorMessage(errorId, this.#number);
    this.element = el(
      "div",
      { class: "control", "data-field": name },
      el("label", { for: id }, label),
      el("span", { class: "typed" }, this.#number, el("span", { class: "unit" }, unit)),
      this.#slider,
      this.#error.element,
      el("p", { id: helpId, class: "help" }, help),
    );
    this.#slider.addEventListener("input", () => {
      const value = stops[this.#slider.valueAsNumber] ?? Number.NaN;
      this.#number.value = String(value);
      this.#describe(value);
      onChange(value);
    });
    this.#number.addEventListener("input", () => {
      const value = parseNumber(this.#number.value);
      this.#moveSlider(value);
      onChange(value);
    });
  }

  /** Shows a value that was set elsewhere. */
  showValue(value: number): void {
    this.#number.value = Number.isFinite(value) ? String(value) : "";
    this.#moveSlider(value);
  }

  /** Shows an error below the number, or hides it if `message` is null. */
  showError(message: string | null): void {
    this.#error.show(message);
  }

  #moveSlider(value: number): void {
    const { stops } = this.#field;
    if (value > 0) this.#slider.value = String(nearestStopIndex(stops, value));
    // Zero and negative numbers have no nearest stop by ratio.
    else if (Number.isFinite(value)) this.#slider.value = "0";
    this.#describe(value);
  }

  #describe(value: number): void {
    const text = Number.isFinite(value) ? `${value} ${this.#field.unit}`.trim() : "not set";
    this.#slider.setAttribute("aria-valuetext", text);
  }
}

/** Text field for a list of numbers. */
export class NumberListControl {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #error: FieldErrorMessage;

  constructor(name: string, { label, help }: FieldText, onChange: (value: string) => void) {
    const [id, helpId, errorId] = [`field-${name}`, `help-${name}`, `error-${name}`];
    this.#input = el("input", {
      id,
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": `${errorId} ${helpId}`,
    });
    this.#error = new FieldErrorMessage(errorId, this.#input);
    this.element = el(
      "div",
      { class: "control list", "data-field": name },
      el("label", { for: id }, label),
      el("span", { class: "typed" }, this.#input),
      this.#error.element,
      el("p", { id: helpId, class: "help" }, help),
    );
    this.#input.addEventListener("input", () => onChange(this.#input.value));
  }

  /** Shows a value that was set elsewhere. */
  showValue(value: string): void {
    this.#input.value = value;
  }

  /** Shows an error below the list, or hides it if `message` is null. */
  showError(message: string | null): void {
    this.#error.show(message);
  }
}

/** Control for a choice, as a drop-down list. */
export class DropDownControl {
  readonly element: HTMLElement;
  readonly #select: HTMLSelectElement;

  constructor(
    name: string,
    legend: string,
    words: Readonly<Record<string, string>>,
    onChange: (value: string) => void,
  ) {
    const id = `field-${name}`;
    const options = Object.entries(words).map(([value, text]) => el("option", { value }, text));
    this.#select = el("select", { id }, ...options);
    this.element = el(
      "div",
      { class: "select", "data-field": name },
      el("label", { for: id }, legend),
      this.#select,
    );
    this.#select.addEventListener("change", () => onChange(this.#select.value));
  }

  /** Shows a value that was set elsewhere. */
  showValue(value: string): void {
    this.#select.value = value;
  }
}

/** Control for a choice, as radio buttons side by side. */
export class RadioControl {
  readonly element: HTMLElement;

  constructor(
    name: string,
    legend: string,
    words: Readonly<Record<string, string>>,
    onChange: (value: string) => void,
  ) {
    const choice = ([value, text]: [string, string]) =>
      el("label", {}, el("input", { type: "radio", name, value }), el("span", {}, text));
    this.element = el(
      "fieldset",
      { class: "choice", "data-field": name },
      el("legend", {}, legend),
      el("div", { class: "choices" }, ...Object.entries(words).map(choice)),
    );
    this.element.addEventListener("change", (event) => {
      onChange((event.target as HTMLInputElement).value);
    });
  }

  /** Shows a value that was set elsewhere. */
  showValue(value: string): void {
    for (const radio of this.element.querySelectorAll("input"))
      radio.checked = radio.value === value;
  }
}
