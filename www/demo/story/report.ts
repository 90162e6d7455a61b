// One upload, byte by byte, and the draws before it.

import { byId, el } from "../shared/dom.js";
import { counted } from "../shared/format.js";
import { type Dissected, dissect, hex, hexByte, type Part } from "./bytes.js";
import type { Explained } from "./mechanism/kind.js";

/** The upload that is on show. */
export interface Shown {
  readonly state: "preview" | "sent";
  readonly upload: Uint8Array;
  readonly mechanism: Explained;
}

const DRAWS_KEPT = 5;

export class ReportView {
  readonly #section = byId("report");
  readonly #draws: Dissected[] = [];
  #last: Dissected | null = null;

  /** Shows an upload and returns it taken apart. */
  show({ state, upload, mechanism }: Shown): Dissected {
    const dissected = dissect(upload, mechanism);
    this.#section.dataset.state = state;
    byId("stamp").textContent = state === "sent" ? "Sent" : "Preview";
    const tape = byId("tape");
    const names = { ...NAMES, response: mechanism.part };
    tape.replaceChildren(
      ...dissected.parts.map((part) =>
        stretch(part, { ...names, ...SHORT }[part.name], this.#changed(part)),
      ),
    );
    tape.setAttribute(
      "aria-label",
      `${counted(dissected.length, "byte")} in hexadecimal: ${dissected.parts
        .map((part) => `${names[part.name]} ${hex(part.bytes)}`)
        .join(", ")}`,
    );
    byId("parts").replaceChildren(
      ...dissected.parts.flatMap((part) =>
        entry(part, names[part.name], MEANINGS[part.name] ?? mechanism.meaning(dissected)),
      ),
    );
    if (state === "preview") this.#remember(dissected, mechanism);
    this.#last = dissected;
    return dissected;
  }

  /** Empties the list of draws: the answers or the mechanism have changed. */
  forgetDraws(): void {
    this.#draws.length = 0;
  }

  #changed(part: Part): boolean {
    const before = this.#last?.parts.find(({ name }) => name === part.name);
    return before !== undefined && hex(before.bytes) !== hex(part.bytes);
  }

  #remember(dissected: Dissected, mechanism: Explained): void {
    this.#draws.unshift(dissected);
    this.#draws.length = Math.min(this.#draws.length, DRAWS_KEPT);
    byId("draws").replaceChildren(
      ...this.#draws.map((draw) => {
        const seed = draw.parts.find(({ name }) => name === "seed")?.bytes ?? new Uint8Array();
        return el(
          "li",
          {},
          el("code", {}, `seed ${hex(seed)}`),
          " ",
          el("strong", {}, mechanism.words(draw)),
        );
      }),
    );
  }
}

type Fixed = Exclude<Part["name"], "response">;

const NAMES: Record<Fixed, string> = {
  version: "version",
  task: "task fingerprint",
  id: "upload id",
  count: "count",
  seed: "seed",
};

/** Names that fit under a single byte. */
const SHORT = { version: "v", task: "task", count: "n" };

const MEANINGS: Partial<Record<Part["name"], string>> & Record<Fixed, string> = {
  version: "The format of the upload. The same for everyone.",
  task: "Names the questions, the mechanism and every parameter of the noise, so that a report made under other rules is refused. The same for everyone.",
  id: "Random. A retry carries it again, so the collector counts the upload once. Says nothing about you.",
  count: "One report in this upload.",
  seed: "Random. Decides where each possible answer falls, for this report only. Drawn without looking at your answers.",
};

function stretch(part: Part, label: string, changed: boolean): HTMLElement {
  return el(
    "span",
    { class: "part", "data-part": part.name, "data-label": label, "data-changed": changed },
    ...Array.from(part.bytes, (byte) => el("span", { class: "byte" }, hexByte(byte))),
  );
}

function entry(part: Part, name: string, meaning: string): HTMLElement[] {
  return [
    el("dt", { "data-part": part.name }, name, el("small", {}, counted(part.bytes.length, "byte"))),
    el("dd", {}, meaning),
  ];
}
