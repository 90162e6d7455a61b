// Section of the page that makes its own requests. If it is slow or fails, the other sections are
// not affected.

import { el } from "../demo/shared/dom.js";
import { CollectorError } from "./api.js";

/** Elements and texts of a section. `null` hides the section. */
export type SectionContent = readonly (Node | string)[] | null;

export class PageSection {
  readonly element: HTMLElement;
  readonly #body: HTMLElement;
  /** Number of requests so far. A late response to an earlier request is dropped. */
  #requestCount = 0;

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

  /** Shows this content, and drops responses to requests that are still running. */
  showContent(shown: SectionContent): void {
    this.#requestCount += 1;
    this.#replace(shown);
  }

  /** Loads new content with `make` and shows it. The old content stays visible until then. */
  async load(make: () => Promise<SectionContent>): Promise<void> {
    this.#requestCount += 1;
    const own = this.#requestCount;
    this.element.setAttribute("aria-busy", "true");
    let shown: SectionContent;
    try {
      shown = await make();
    } catch (thrown) {
      // Any other error is a bug of this page, and belongs on the console.
      const words = thrown instanceof Error ? thrown.message : String(thrown);
      if (!(thrown instanceof CollectorError)) console.error(thrown);
      shown = [el("p", { class: "refused" }, words)];
    }
    if (own === this.#requestCount) this.#replace(shown);
  }

  #replace(shown: SectionContent): void {
    this.element.hidden = shown === null;
    this.element.setAttribute("aria-busy", "false");
    this.#body.replaceChildren(...(shown ?? []));
  }
}
