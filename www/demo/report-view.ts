// One upload, byte by byte, and the draws before it.

import { type Dissected, dissect, hex, hexByte, type Part } from "./bytes.js";
import { byId, el } from "./dom.js";
import { counted } from "./format.js";

/** The upload that is on show. */
export interface Shown {
  readonly state: "preview" | "sent";
  readonly upload: Uint8Array;
}

const DRAWS_KEPT = 5;

export class ReportView {
  readonly #section = byId("report");
  readonly #draws: Dissected[] = [];
  #last: Dissected | null = null;

  /** Shows an upload and returns it taken apart. */
  show({ state, upload }: Shown): Dissected {
    const dissected = dissect(upload);
    this.#section.dataset.state = state;
    byId("stamp").textContent = state === "sent" ? "Sent" : "Preview";
    const tape = byId("tape");
    tape.replaceChildren(...dissected.parts.map((part) => stretch(part, this.#changed(part))));
    tape.setAttribute(
      "aria-label",
      `${counted(dissected.length, "byte")} in hexadecimal: ${dissected.parts
        .map((part) => `${NAMES[part.name]} ${hex(part.bytes)}`)
        .join(", ")}`,
    );
    byId("parts").replaceChildren(...dissected.parts.flatMap((part) => entry(part, dissected)));
    if (state === "preview") this.#remember(dissected);
    this.#last = dissected;
    return dissected;
  }

  /** Empties the list of draws: the answers have changed. */
  forgetDraws(): void {
    this.#draws.length = 0;
  }

  #changed(part: Part): boolean {
    const before = this.#last?.parts.find(({ name }) => name === part.name);
    return before !== undefined && hex(before.bytes) !== hex(part.bytes);
  }

  #remember(dissected: Dissected): void {
    this.#draws.unshift(dissected);
    this.#draws.length = Math.min(this.#draws.length, DRAWS_KEPT);
    byId("draws").replaceChildren(
      ...this.#draws.map(({ parts, bucket }) => {
        const seed = parts.find(({ name }) => name === "seed")?.bytes ?? new Uint8Array();
        return el(
          "li",
          {},
          el("code", {}, `seed ${hex(seed)}`),
          " ",
          el("strong", {}, `bucket ${bucket}`),
        );
      }),
    );
  }
}

const NAMES: Record<Part["name"], string> = {
  version: "version",
  task: "task fingerprint",
  id: "upload id",
  count: "count",
  seed: "seed",
  bucket: "bucket",
};

/** Names that fit under a single byte. */
const SHORT: Record<Part["name"], string> = { ...NAMES, version: "v", task: "task", count: "n" };

function stretch(part: Part, changed: boolean): HTMLElement {
  return el(
    "span",
    {
      class: "part",
      "data-part": part.name,
      "data-label": SHORT[part.name],
      "data-changed": changed,
    },
    ...Array.from(part.bytes, (byte) => el("span", { class: "byte" }, hexByte(byte))),
  );
}

function entry(part: Part, { bucket }: Dissected): HTMLElement[] {
  const meaning: Record<Part["name"], string> = {
    version: "The format of the upload. The same for everyone.",
    task: "Names the questions and every parameter of the noise, so that a report made under other rules is refused. The same for everyone.",
    id: "Random. A retry carries it again, so the collector counts the upload once. Says nothing about you.",
    count: "One report in this upload.",
    seed: "Random. Decides which bucket each possible answer falls into, for this report only. Drawn without looking at your answers.",
    bucket: `Bucket ${bucket}: the only thing here that your answers influence. Buckets that hold your answers are likelier, never certain.`,
  };
  return [
    el(
      "dt",
      { "data-part": part.name },
      NAMES[part.name],
      el("small", {}, counted(part.bytes.length, "byte")),
    ),
    el("dd", {}, meaning[part.name]),
  ];
}
