/** List item for one report in `<hushbin-history>`. */

import { bytesToHex } from "../bytes.js";
import type { HistoryEntry } from "../results.js";
import { FINGERPRINT_END, ID_END } from "../upload.js";
import { el } from "./dom.js";
import type { UploadPartNames, Words } from "./words.js";

/** Report with the texts that are shown for it. */
export interface ReportEntry extends Omit<HistoryEntry, "epsilon"> {
  /** Text with the ε of the report. */
  readonly cost: string;
  /** Names of the parts of the report's upload. */
  readonly uploadPartNames: UploadPartNames;
}

/** Functions that format dates and numbers as text. */
export interface Formatters {
  readonly date: (date: Date) => string;
  readonly number: (number: number) => string;
}

/**
 * Splits an upload into its parts. The last byte of the part with the number of reports or
 * messages, a varint, is below 128.
 */
export function splitUpload(bytes: Uint8Array): readonly Uint8Array[] {
  const counted = bytes.findIndex((byte, at) => at >= ID_END && byte < 128) + 1;
  return [0, 1, FINGERPRINT_END, ID_END, counted].map((from, at, all) =>
    bytes.subarray(from, all[at + 1]),
  );
}

/**
 * Creates an element that lists the bytes of each part of an upload. The list is created when a
 * person first opens the element.
 */
function createBytesDetails(
  { bytes, uploadPartNames: names }: ReportEntry,
  words: Words,
): HTMLDetailsElement {
  const details = el("details", "bytes", el("summary", "", words.bytes(bytes.length)));
  details.addEventListener(
    "toggle",
    () => {
      const parts = splitUpload(bytes).map((part, at) =>
        el(
          "div",
          "",
          el("dt", "", names[at] ?? ""),
          el("dd", "", el("code", "", bytesToHex(part))),
        ),
      );
      details.append(el("dl", "", ...parts));
    },
    { once: true },
  );
  return details;
}

/** Item of the list, which shows a report. Its state can be updated. */
export class ReportListItem {
  readonly item: HTMLLIElement;
  readonly #words: Words;
  readonly #stateElement = el("span", "state");

  constructor(entry: ReportEntry, words: Words, { date }: Formatters) {
    const { at, cost } = entry;
    this.#words = words;
    const time = el("time", "time", date(at));
    time.dateTime = at.toISOString();
    const line = el("p", "line", this.#stateElement, " ", el("span", "cost", cost), " ", time);
    this.item = el("li", "report", line, createBytesDetails(entry, words));
  }

  update({ state }: ReportEntry): void {
    const text = this.#words.state[state];
    if (this.#stateElement.textContent !== text) {
      this.#stateElement.textContent = text;
      this.#stateElement.dataset.state = state;
    }
  }
}
