// The choice of a mechanism: cards that describe the mechanisms, and a compact copy of the choice
// next to the estimates. Both are groups of radio buttons.

import { byId, el } from "../shared/dom.js";
import type { MechanismChannel } from "./channel.js";

/**
 * Two groups of radio buttons that choose the same mechanism. Calls `onChange` after every change.
 */
export class MechanismSwitch {
  readonly #groups: readonly HTMLElement[];

  constructor(
    channels: readonly MechanismChannel[],
    onChange: (channel: MechanismChannel) => void,
  ) {
    const cards = byId("mechanisms");
    cards.append(el("div", { class: "cards" }, ...channels.map(mechanismCard)));
    const brief = byId("mechanisms-again");
    brief.append(el("div", { class: "choices" }, ...channels.map(mechanismRadio)));
    this.#groups = [cards, brief];
    for (const group of this.#groups) {
      group.addEventListener("change", (event) => {
        const id = (event.target as HTMLInputElement).value;
        const chosen = channels.find(({ mechanismInfo: kind }) => kind.taskId === id);
        if (chosen) onChange(chosen);
      });
    }
  }

  /** Selects the radio button of the channel's mechanism in both groups. */
  show({ mechanismInfo: kind }: MechanismChannel): void {
    for (const group of this.#groups) {
      for (const radio of group.querySelectorAll("input"))
        radio.checked = radio.value === kind.taskId;
    }
  }
}

function mechanismCard({
  mechanismInfo: kind,
  epsilonScope: scope,
}: MechanismChannel): HTMLElement {
  const { name, strength, epsilonScopeText: covers, taskId: task } = kind;
  return el(
    "label",
    { class: "card", "data-covers": scope },
    el("input", { type: "radio", name: "mechanism", value: task }),
    el("span", { class: "card-name" }, name),
    el("span", { class: "card-good" }, strength),
    el("span", { class: "card-covers" }, "ε covers ", el("strong", {}, covers)),
  );
}

function mechanismRadio({ mechanismInfo: kind }: MechanismChannel): HTMLElement {
  return el(
    "label",
    {},
    el("input", { type: "radio", name: "mechanism-again", value: kind.taskId }),
    el("span", {}, kind.name),
  );
}
