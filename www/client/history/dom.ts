/** Elements, made without HTML in text: policies may forbid that. */

/** An element, which the page may style by its part. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  part: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (part !== "") {
    element.className = part;
    element.part.add(part);
  }
  element.append(...children);
  return element;
}

export function button(part: string, run: () => void): HTMLButtonElement {
  const made = el("button", part);
  made.type = "button";
  made.addEventListener("click", run);
  return made;
}

/** Says something in an element, unless it says so: else it would be read aloud again. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
  element.hidden = text === "";
}

/** A list of terms, with what there is to say of each. */
export class Terms {
  readonly list: HTMLDListElement;
  readonly #said = new Map<string, HTMLElement>();

  constructor(part: string) {
    this.list = el("dl", part);
  }

  /** Says it of a term, which is left out where there is nothing to say. */
  say(term: string, text: string | undefined): void {
    let group = this.#said.get(term);
    if (group === undefined) {
      group = el("div", "", el("dt", "", term), el("dd", ""));
      this.#said.set(term, group);
      this.list.append(group);
    }
    group.hidden = text === undefined;
    say(group.lastElementChild as HTMLElement, text ?? "");
  }
}
