// A visit of the visitor's own: a form, the call that it comes to, and the bytes
// that would leave or have left.

import { byId, el } from "../../shared/dom.js";
import { count, counted, hex } from "../../shared/format.js";
import { unsent } from "../own-report.js";
import { stretch } from "../report.js";
import type { VisitsDesk } from "./desk.js";
import {
  clipped,
  FEATURES,
  type Feature,
  LOAD,
  optionLabel,
  THEME,
  type Theme,
  type Visit,
} from "./task.js";
import { showTold } from "./told.js";

export interface OwnVisitOptions {
  readonly desk: VisitsDesk;
  readonly onSent: () => void;
  readonly onTrouble: (error: unknown) => void;
}

const SEED_BYTES = 8;

export class OwnVisitView {
  readonly #options: OwnVisitOptions;
  readonly #panel = byId("visit");
  readonly #fields = byId<HTMLFieldSetElement>("visit-fields");
  readonly #theme = byId<HTMLSelectElement>("visit-theme");
  readonly #features = byId("visit-features");
  readonly #again = byId<HTMLButtonElement>("visit-again");
  readonly #send = byId<HTMLButtonElement>("visit-send");
  /** Unknown until the page has loaded. */
  #loadMs: number | null = null;
  #sending = false;

  constructor(options: OwnVisitOptions) {
    this.#options = options;
    this.#theme.append(
      ...THEME.options.map((value) => el("option", { value }, optionLabel(value))),
    );
    this.#features.append(
      ...FEATURES.options.map((value) =>
        el("label", {}, el("input", { type: "checkbox", value }), ` ${optionLabel(value)}`),
      ),
    );
    this.#fields.addEventListener("change", () => this.show());
    this.#again.addEventListener("click", () => this.show());
    this.#send.addEventListener("click", () => void this.#sendOnce());
    void loadTime().then((loadMs) => {
      this.#loadMs = loadMs;
      this.show();
    });
    this.show();
  }

  /** Shows what was sent; before that, another draw of the answers as they stand. */
  show(): void {
    const { ledger, randomizer } = this.#options.desk;
    const sent = ledger.mine;
    const visit = sent?.answers ?? this.#visit;
    if (sent) this.#sending = false;
    this.#panel.dataset.state = sent ? "sent" : "preview";
    byId("visit-stamp").textContent = sent ? "Sent" : "Preview";
    this.#fields.disabled = sent !== null || this.#sending;
    this.#again.disabled = visit === null || this.#fields.disabled;
    this.#send.disabled = this.#again.disabled;
    this.#send.textContent = sent ? "Visit sent, once" : "Send this visit";
    if (!visit) return;
    if (sent) this.#fill(sent.answers);
    this.#limit(visit);
    byId("visit-load").textContent = measured(visit.loadMs);
    byId("visit-call").textContent = callOf(visit);
    try {
      const upload = sent?.upload ?? randomizer.upload(randomizer.randomize(visit), 1);
      showBytes(upload, randomizer);
      showTold(this.#options.desk.told(visit, upload));
    } catch (error) {
      this.#options.onTrouble(error);
    }
    if (!this.#sending) say(sent ? SENT : PREVIEW);
  }

  get #visit(): Visit | null {
    if (this.#loadMs === null) return null;
    const ticked = this.#features.querySelectorAll<HTMLInputElement>(":checked");
    return {
      theme: this.#theme.value as Theme,
      features: Array.from(ticked, ({ value }) => value as Feature),
      loadMs: this.#loadMs,
    };
  }

  #fill({ theme, features }: Visit): void {
    this.#theme.value = theme;
    for (const input of this.#features.querySelectorAll("input")) {
      input.checked = features.includes(input.value as Feature);
    }
  }

  /** Once as many are ticked as a report holds, the others are not to be. */
  #limit({ features }: Visit): void {
    const full = features.length >= FEATURES.sparsity;
    for (const input of this.#features.querySelectorAll("input")) {
      input.disabled = full && !input.checked;
    }
  }

  async #sendOnce(): Promise<void> {
    const { desk, onSent, onTrouble } = this.#options;
    const visit = this.#visit;
    if (!visit) return;
    this.#sending = true;
    this.#fields.disabled = true;
    this.#again.disabled = true;
    this.#send.disabled = true;
    say("Sending …");
    try {
      await desk.own.send(visit);
      this.#sending = false;
      this.show();
      onSent();
    } catch (error) {
      // Something older may have failed, before this report was drawn.
      const drawn = desk.ledger.pending?.mine !== undefined;
      this.#sending = drawn;
      if (!drawn) this.show();
      say(unsent(drawn));
      onTrouble(error);
    }
  }
}

const PREVIEW =
  "Drawn here, sent nowhere. The seed names the question that the last byte answers, and is drawn before the answers are looked at. Sending spends an ε of its own, beside that of the report above.";
const SENT =
  "These bytes left your page and are on the collector’s disk. They are all it has of this visit, and say something of one answer only.";

/** What is unchanged is not read out again. */
function say(text: string): void {
  const status = byId("visit-text");
  if (status.textContent !== text) status.textContent = text;
}

/** The call of the package, as it stands in a page. */
export function callOf({ theme, features, loadMs }: Visit): string {
  const list = features.map((feature) => JSON.stringify(feature)).join(", ");
  return `await client.report({\n  theme: ${JSON.stringify(theme)},\n  features: [${list}],\n  loadMs: ${loadMs},\n});`;
}

/** A load time, and what it counts as if that is another. */
export function measured(loadMs: number): string {
  const [counts, unit] = [clipped(loadMs), LOAD.unit];
  const as = counts === loadMs ? "" : `, counted as ${count(counts)} ${unit}`;
  return `${count(loadMs)} ${unit}, measured${as}`;
}

function showBytes(upload: Uint8Array, randomizer: VisitsDesk["randomizer"]): void {
  const header = randomizer.uploadHeader(1).length;
  const seeded = header + SEED_BYTES;
  const parts = [
    { name: "task", label: "which task, and a random id", bytes: upload.subarray(0, header) },
    { name: "seed", label: "seed", bytes: upload.subarray(header, seeded) },
    { name: "response", label: "bucket", bytes: upload.subarray(seeded) },
  ] as const;
  const tape = byId("visit-tape");
  tape.replaceChildren(...parts.map((part) => stretch(part, part.label, false)));
  tape.setAttribute(
    "aria-label",
    `${counted(upload.length, "byte")} in hexadecimal: ${parts
      .map(({ label, bytes }) => `${label} ${hex(bytes)}`)
      .join(", ")}`,
  );
}

/** How long this page took to load, in whole milliseconds, once it has. */
async function loadTime(): Promise<number> {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
  }
  // The end of loading is noted after the event.
  await new Promise((resolve) => setTimeout(resolve));
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return Math.round(entry?.loadEventEnd ?? performance.now());
}
