// A part of the page that is asked for on its own: what is late or refused leaves the others alone.

import { el } from "../demo/shared/dom.js";
import { Refused } from "./api.js";

/** What is shown, or nothing where the part is to be left out. */
export type Shown = readonly (Node | string)[] | null;

export class Section {
  readonly element: HTMLElement;
  readonly #body: HTMLElement;
  /** Counts what was asked for: an answer that is late is dropped. */
  #asked = 0;

  constructor(id: string, title: string, style = "") {
    const heading = el("h2", { id: `${id}-title` }, title);
    this.#body = el("div", { class: "body" });
    this.element = el(
      "section",
      { id, class: `panel ${style}`, "aria-labelledby": `${id}-title` },
      heading,
      this.#body,
    );
  }

  /** Shows this now. */
  show(shown: Shown): void {
    this.#asked += 1;
    this.#put(shown);
  }

  /** Shows what comes; what was shown stays until then. */
  async load(make: () => Promise<Shown>): Promise<void> {
    this.#asked += 1;
    const own = this.#asked;
    this.element.setAttribute("aria-busy", "true");
    let shown: Shown;
    try {
      shown = await make();
    } catch (thrown) {
      // What nobody expects is a defect of this page, and says so.
      const words = thrown instanceof Error ? thrown.message : String(thrown);
      if (!(thrown instanceof Refused)) console.error(thrown);
      shown = [el("p", { class: "refused" }, words)];
    }
    if (own === this.#asked) this.#put(shown);
  }

  #put(shown: Shown): void {
    this.element.hidden = shown === null;
    this.element.setAttribute("aria-busy", "false");
    this.#body.replaceChildren(...(shown ?? []));
  }
}
