/** One report, as `<hushbin-history>` lists it. */

import { hex } from "../bytes.js";
import type { Sent } from "../client.js";
import { FINGERPRINT_END, ID_END } from "../upload.js";
import { el } from "./dom.js";
import type { Words } from "./words.js";

/** How dates and numbers are written. */
export interface Written {
  readonly date: (date: Date) => string;
  readonly number: (number: number) => string;
}

/** An upload of one report, in its parts: the number of reports takes a byte. */
export const partsOf = (bytes: Uint8Array): readonly Uint8Array[] =>
  [0, 1, FINGERPRINT_END, ID_END, ID_END + 1].map((from, at, all) =>
    bytes.subarray(from, all[at + 1]),
  );

/** All bytes, under the names of their parts; written out once somebody looks. */
function detailsOf(bytes: Uint8Array, words: Words): HTMLDetailsElement {
  const details = el("details", "bytes", el("summary", "", words.bytes(bytes.length)));
  details.addEventListener(
    "toggle",
    () => {
      const parts = partsOf(bytes).map((part, at) =>
        el("div", "", el("dt", "", words.parts[at] ?? ""), el("dd", "", el("code", "", hex(part)))),
      );
      details.append(el("dl", "", ...parts));
    },
    { once: true },
  );
  return details;
}

/** An item of the list, of which the state may change. */
export class ReportItem {
  readonly item: HTMLLIElement;
  readonly #words: Words;
  readonly #state = el("span", "state");

  constructor({ at, epsilon, bytes }: Sent, words: Words, { date, number }: Written) {
    this.#words = words;
    const time = el("time", "time", date(at));
    time.dateTime = at.toISOString();
    const cost = epsilon > 0 ? words.cost(number(epsilon)) : words.again;
    const line = el("p", "line", this.#state, " ", el("span", "cost", cost), " ", time);
    this.item = el("li", "report", line, detailsOf(bytes, words));
  }

  update({ state }: Sent): void {
    const said = this.#words.state[state];
    if (this.#state.textContent !== said) {
      this.#state.textContent = said;
      this.#state.dataset.state = state;
    }
  }
}
