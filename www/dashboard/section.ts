// Section of the page that makes separate requests. A slow or failed section does not affect the
// rest.

import { el } from "../demo/shared/dom.js";
import { Refused } from "./api.js";

/** Content of a section. `null` hides the section. */
export type Shown = readonly (Node | string)[] | null;

export class Section {
  readonly element: HTMLElement;
  readonly #body: HTMLElement;
  /** Number of requests so far. A late response to an earlier request is dropped. */
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

  /** Shows the given content, and drops responses to earlier requests. */
  show(shown: Shown): void {
    this.#asked += 1;
    this.#put(shown);
  }

  /** Loads new content. The old content stays visible until then. */
  async load(make: () => Promise<Shown>): Promise<void> {
    this.#asked += 1;
    const own = this.#asked;
    this.element.setAttribute("aria-busy", "true");
    let shown: Shown;
    try {
      shown = await make();
    } catch (thrown) {
      // Any other error is a bug of this page, and belongs on the console.
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
