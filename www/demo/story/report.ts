// The view of one upload, byte by byte, and of the last draws.

import type { Reported, UploadFieldName } from "../shared/analysis.js";
import { byId, el } from "../shared/dom.js";
import { formatCountWithNoun, formatHex, formatHexByte } from "../shared/format.js";
import type { MechanismChannel } from "./channel.js";
import type { MechanismTexts } from "./mechanism/mechanism.js";

/** Upload to show, and its channel. `state` says whether it was sent or is only a preview. */
export interface ShownReport {
  readonly state: "preview" | "sent";
  readonly upload: Uint8Array;
  readonly channel: MechanismChannel;
}

/** Named field of an upload. */
export interface UploadPart {
  readonly name: UploadFieldName;
  readonly bytes: Uint8Array;
}

/** One random draw of an upload: its fields, and the decoded response. */
interface RandomizedUpload {
  readonly parts: readonly UploadPart[];
  readonly reported: Reported;
}

const DRAWS_KEPT = 5;

export class ReportView {
  readonly #section = byId("report");
  readonly #draws: RandomizedUpload[] = [];
  #last: RandomizedUpload | null = null;

  /** Shows an upload byte by byte. Returns the randomised part of its report. */
  show({ state, upload, channel: { texts, explainer } }: ShownReport): Reported {
    const dissected = explainer.dissect(upload);
    const parts = dissected.parts.map(({ name, from, to }) => ({
      name,
      bytes: upload.subarray(from, to),
    }));
    const draw = { parts, reported: dissected.response };
    this.#section.dataset.state = state;
    byId("stamp").textContent = state === "sent" ? "Sent" : "Preview";
    const tape = byId("tape");
    const names = { ...PART_NAMES, response: texts.randomisedPartName };
    tape.replaceChildren(
      ...parts.map((part) =>
        uploadPartElement(part, { ...names, ...SHORT_PART_NAMES }[part.name], this.#changed(part)),
      ),
    );
    tape.setAttribute(
      "aria-label",
      `${formatCountWithNoun(upload.length, "byte")} in hexadecimal: ${parts
        .map((part) => `${names[part.name]} ${formatHex(part.bytes)}`)
        .join(", ")}`,
    );
    byId("parts").replaceChildren(
      ...parts.flatMap((part) =>
        uploadPartDescription(
          part,
          names[part.name],
          MEANINGS[part.name] ?? texts.meaning(draw.reported),
        ),
      ),
    );
    if (state === "preview") this.#remember(draw, texts);
    this.#last = draw;
    return draw.reported;
  }

  /** Empties the list of draws. Call this after the answers or the mechanism have changed. */
  forgetDraws(): void {
    this.#draws.length = 0;
  }

  #changed(part: UploadPart): boolean {
    const before = this.#last?.parts.find(({ name }) => name === part.name);
    return before !== undefined && formatHex(before.bytes) !== formatHex(part.bytes);
  }

  #remember(newest: RandomizedUpload, explained: MechanismTexts): void {
    this.#draws.unshift(newest);
    this.#draws.length = Math.min(this.#draws.length, DRAWS_KEPT);
    byId("draws").replaceChildren(
      ...this.#draws.map((draw) => {
        const seed = draw.parts.find(({ name }) => name === "seed")?.bytes ?? new Uint8Array();
        return el(
          "li",
          {},
          el("code", {}, `seed ${formatHex(seed)}`),
          " ",
          el("strong", {}, explained.randomisedPartInWords(draw.reported)),
        );
      }),
    );
  }
}

type NonResponseFieldName = Exclude<UploadFieldName, "response">;

const PART_NAMES: Record<NonResponseFieldName, string> = {
  version: "version",
  task: "task fingerprint",
  id: "upload id",
  count: "count",
  seed: "seed",
};

/** Short names of fields, which fit under a single byte. */
const SHORT_PART_NAMES = { version: "v", task: "task", count: "n" };

const MEANINGS: Partial<Record<UploadFieldName, string>> & Record<NonResponseFieldName, string> = {
  version: "Format of the upload. This part is the same for everyone.",
  task: "Identifies the questions, the mechanism and every parameter of the noise. The collector refuses a report made under other rules. This part is the same for everyone.",
  id: "A random number. A retry has the same id, so the collector counts the upload once. The id reveals nothing about you.",
  count: "Number of reports in this upload: one.",
  seed: "A random number. For this report only, the seed decides where each possible answer falls. It does not depend on your answers.",
};

/**
 * Creates an element with the bytes of a field. `changed` marks bytes that differ from the last
 * draw.
 */
export function uploadPartElement(part: UploadPart, label: string, changed: boolean): HTMLElement {
  return el(
    "span",
    { class: "part", "data-part": part.name, "data-label": label, "data-changed": changed },
    ...Array.from(part.bytes, (byte) => el("span", { class: "byte" }, formatHexByte(byte))),
  );
}

function uploadPartDescription(part: UploadPart, name: string, meaning: string): HTMLElement[] {
  return [
    el(
      "dt",
      { "data-part": part.name },
      name,
      el("small", {}, formatCountWithNoun(part.bytes.length, "byte")),
    ),
    el("dd", {}, meaning),
  ];
}
