// The verdict above an answer, or the reason why there is no answer. Screen readers announce it.

import { byId } from "../shared/dom.js";

/** Time in ms for which a verdict must stay unchanged before it is announced. */
const ANNOUNCE_AFTER_MS = 900;

export class VerdictView {
  #announceTimer: ReturnType<typeof setTimeout> | undefined;

  /** Shows the verdict of an answer. `kind` selects the style. `tally` is the short form. */
  showVerdict(kind: string, name: string, text: string, tally: string): void {
    this.#show(kind, name, text, tally);
    this.#setAnswered(true);
  }

  /** Shows the reason why there is no answer. The last answer is hidden but keeps its space. */
  showRefusal(message: string): void {
    this.#setAnswered(false);
    this.#show("refused", "No plan", message, "No plan");
  }

  #show(kind: string, name: string, text: string, tally: string): void {
    byId("verdict").dataset.kind = kind;
    byId("verdict-kind").textContent = name;
    byId("verdict-text").textContent = text;
    byId("tally").textContent = tally;
    this.#announce(`${name}. ${text}`);
  }

  #setAnswered(is: boolean): void {
    document.documentElement.toggleAttribute("data-answered", is);
    if (is) document.documentElement.dataset.planned = "true";
    for (const id of ["copy", "download"]) byId<HTMLButtonElement>(id).disabled = !is;
  }

  /** Announces a text to screen readers, unless another text follows soon. */
  #announce(text: string): void {
    clearTimeout(this.#announceTimer);
    this.#announceTimer = setTimeout(() => {
      const status = byId("status");
      if (status.textContent !== text) status.textContent = text;
    }, ANNOUNCE_AFTER_MS);
  }
}
