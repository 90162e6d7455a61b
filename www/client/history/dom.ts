/**
 * Functions that create DOM elements. They use no HTML strings, because security policies may
 * forbid these.
 */

/** Creates an element. The page can style it by its `part` attribute. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  part: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (part !== "") {
    element.className = part;
    // Test environments have no `element.part`.
    element.setAttribute("part", part);
  }
  element.append(...children);
  return element;
}

export function createButton(part: string, run: () => void): HTMLButtonElement {
  const made = el("button", part);
  made.type = "button";
  made.addEventListener("click", run);
  return made;
}

/**
 * Sets the text of an element if it differs, because screen readers would announce an unchanged
 * text again. Hides the element if the text is empty.
 */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
  element.hidden = text === "";
}

/** Description list in which the description of each term can be updated. */
export class DescriptionList {
  readonly list: HTMLDListElement;
  readonly #groupByTerm = new Map<string, HTMLElement>();

  constructor(part: string) {
    this.list = el("dl", part);
  }

  /** Sets the description of a term. Hides the term if the description is undefined. */
  set(term: string, text: string | undefined): void {
    let group = this.#groupByTerm.get(term);
    if (group === undefined) {
      group = el("div", "", el("dt", "", term), el("dd", ""));
      this.#groupByTerm.set(term, group);
      this.list.append(group);
    }
    group.hidden = text === undefined;
    setText(group.lastElementChild as HTMLElement, text ?? "");
  }
}
