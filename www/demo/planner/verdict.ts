// The verdict above an answer, in words that are also read out; or why there is no answer.

import { byId } from "../shared/dom.js";

/** How long an answer stands before it is read out. */
const QUIET_MS = 900;

export class Verdict {
  #reading: ReturnType<typeof setTimeout> | undefined;

  /** There is an answer, of this kind. */
  answer(kind: string, name: string, text: string, tally: string): void {
    this.#say(kind, name, text, tally);
    this.#stand(true);
  }

  /** There is no answer; what was shown last is hidden, and keeps its place. */
  refuse(message: string): void {
    this.#stand(false);
    this.#say("refused", "No plan", message, "No plan");
  }

  #say(kind: string, name: string, text: string, tally: string): void {
    byId("verdict").dataset.kind = kind;
    byId("verdict-kind").textContent = name;
    byId("verdict-text").textContent = text;
    byId("tally").textContent = tally;
    this.#read(`${name}. ${text}`);
  }

  #stand(is: boolean): void {
    document.documentElement.toggleAttribute("data-answered", is);
    if (is) document.documentElement.dataset.planned = "true";
    for (const id of ["copy", "download"]) byId<HTMLButtonElement>(id).disabled = !is;
  }

  /** Reads an answer out when it has stood for a while. */
  #read(text: string): void {
    clearTimeout(this.#reading);
    this.#reading = setTimeout(() => {
      const status = byId("status");
      if (status.textContent !== text) status.textContent = text;
    }, QUIET_MS);
  }
}
