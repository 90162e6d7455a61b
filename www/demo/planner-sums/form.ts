// What is asked and promised, as controls: those that matter are shown, in groups.

import { ChoiceControl, NumberControl } from "../planner/control.js";
import { byId } from "../shared/dom.js";
import {
  FIELDS,
  type MeasureName,
  NUMBERS,
  type NumberName,
  relevant,
  type State,
} from "./state.js";

const WORDS: Readonly<Record<MeasureName, string>> = {
  numbers: "Numbers, each by itself",
  vector: "A vector",
};

const GROUPS: Readonly<Record<string, readonly NumberName[]>> = {
  measure: ["count", "min", "max", "dimension", "length"],
  crowd: ["people", "honest_fraction"],
  privacy: ["epsilon", "delta"],
};

export class Form {
  readonly #measure: ChoiceControl;
  readonly #numbers: ReadonlyMap<NumberName, NumberControl>;
  #state: State;

  constructor(state: State, onChange: (state: State) => void) {
    this.#state = state;
    const change = (part: Partial<State>) => {
      this.#state = { ...this.#state, ...part };
      this.#arrange();
      onChange(this.#state);
    };
    this.#measure = new ChoiceControl("measure", "Everybody has", WORDS, (measure) =>
      change({ measure: measure as MeasureName }),
    );
    this.#numbers = new Map(
      NUMBERS.map((name) => [
        name,
        new NumberControl(name, FIELDS[name], (value) => change({ [name]: value })),
      ]),
    );
    byId("group-measure").append(this.#measure.element);
    for (const [group, names] of Object.entries(GROUPS)) {
      for (const name of names) {
        const control = this.#numbers.get(name);
        if (control) byId(`group-${group}`).append(control.element);
      }
    }
    this.show(state);
  }

  /** Shows what came from elsewhere. */
  show(state: State): void {
    this.#state = state;
    this.#measure.show(state.measure);
    for (const [name, control] of this.#numbers) control.show(state[name]);
    this.#arrange();
  }

  /** Shows what is wrong with which field, and of all others that nothing is. */
  blame(wrong: ReadonlyMap<NumberName, string>): void {
    for (const [name, control] of this.#numbers) control.blame(wrong.get(name) ?? null);
  }

  #arrange(): void {
    const asked = relevant(this.#state);
    for (const [name, control] of this.#numbers) control.element.hidden = !asked.has(name);
  }
}
