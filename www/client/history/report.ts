/** One report, as `<hushbin-history>` lists it. */

import { hex } from "../bytes.js";
import type { Sent } from "../kind.js";
import { FINGERPRINT_END, ID_END } from "../upload.js";
import { el } from "./dom.js";
import type { Parts, Words } from "./words.js";

/** What of a report is shown. */
export interface Entry extends Omit<Sent, "epsilon"> {
  /** In words. */
  readonly cost: string;
  /** What its parts are called. */
  readonly parts: Parts;
}

/** How dates and numbers are written. */
export interface Written {
  readonly date: (date: Date) => string;
  readonly number: (number: number) => string;
}

/** An upload, in its parts: the number of reports or messages ends by a byte below 128. */
export function partsOf(bytes: Uint8Array): readonly Uint8Array[] {
  const counted = bytes.findIndex((byte, at) => at >= ID_END && byte < 128) + 1;
  return [0, 1, FINGERPRINT_END, ID_END, counted].map((from, at, all) =>
    bytes.subarray(from, all[at + 1]),
  );
}

/** All bytes, under the names of their parts; written out once somebody looks. */
function detailsOf({ bytes, parts: names }: Entry, words: Words): HTMLDetailsElement {
  const details = el("details", "bytes", el("summary", "", words.bytes(bytes.length)));
  details.addEventListener(
    "toggle",
    () => {
      const parts = partsOf(bytes).map((part, at) =>
        el("div", "", el("dt", "", names[at] ?? ""), el("dd", "", el("code", "", hex(part)))),
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

  constructor(entry: Entry, words: Words, { date }: Written) {
    const { at, cost } = entry;
    this.#words = words;
    const time = el("time", "time", date(at));
    time.dateTime = at.toISOString();
    const line = el("p", "line", this.#state, " ", el("span", "cost", cost), " ", time);
    this.item = el("li", "report", line, detailsOf(entry, words));
  }

  update({ state }: Entry): void {
    const said = this.#words.state[state];
    if (this.#state.textContent !== said) {
      this.#state.textContent = said;
      this.#state.dataset.state = state;
    }
  }
}
