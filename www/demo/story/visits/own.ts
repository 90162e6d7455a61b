// A visit by the page's own visitor: a form, the call of the package's client, and the bytes that
// would leave or have left.

import { byId, el } from "../../shared/dom.js";
import { formatCount, formatCountWithNoun, formatHex } from "../../shared/format.js";
import { unsentReportText } from "../own-report.js";
import { uploadPartElement } from "../report.js";
import type { VisitsChannel } from "./channel.js";
import { showRevealed } from "./revealed.js";
import {
  clipLoadTime,
  FEATURES,
  type Feature,
  LOAD,
  optionLabel,
  THEME,
  type Theme,
  type Visit,
} from "./task.js";

export interface OwnVisitOptions {
  readonly channel: VisitsChannel;
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
  readonly #randomiseAgainButton = byId<HTMLButtonElement>("visit-again");
  readonly #sendButton = byId<HTMLButtonElement>("visit-send");
  /** Load time of this page in ms; null until it has loaded. */
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
    this.#randomiseAgainButton.addEventListener("click", () => this.show());
    this.#sendButton.addEventListener("click", () => void this.#sendOnce());
    void measureLoadTime().then((loadMs) => {
      this.#loadMs = loadMs;
      this.show();
    });
    this.show();
  }

  /**
   * Shows the report that was sent. If none was sent, randomises the current answers again and
   * shows the result.
   */
  show(): void {
    const { ledger, randomizer } = this.#options.channel;
    const sent = ledger.ownReport;
    const visit = sent?.answers ?? this.#visit;
    if (sent) this.#sending = false;
    this.#panel.dataset.state = sent ? "sent" : "preview";
    byId("visit-stamp").textContent = sent ? "Sent" : "Preview";
    this.#fields.disabled = sent !== null || this.#sending;
    this.#randomiseAgainButton.disabled = visit === null || this.#fields.disabled;
    this.#sendButton.disabled = this.#randomiseAgainButton.disabled;
    this.#sendButton.textContent = sent ? "Visit sent once" : "Send this visit";
    if (!visit) return;
    if (sent) this.#fill(sent.answers);
    this.#disableFurtherOptions(visit);
    byId("visit-load").textContent = loadTimeText(visit.loadMs);
    byId("visit-call").textContent = reportCallCode(visit);
    try {
      const upload = sent?.upload ?? randomizer.upload(randomizer.randomize(visit), 1);
      showUploadBytes(upload, randomizer);
      showRevealed(this.#options.channel.explainUpload(visit, upload));
    } catch (error) {
      this.#options.onTrouble(error);
    }
    if (!this.#sending) setStatus(sent ? SENT_STATUS : PREVIEW_STATUS);
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

  /** Disables all options that are not ticked if a report has no room for further options. */
  #disableFurtherOptions({ features }: Visit): void {
    const full = features.length >= FEATURES.sparsity;
    for (const input of this.#features.querySelectorAll("input")) {
      input.disabled = full && !input.checked;
    }
  }

  async #sendOnce(): Promise<void> {
    const { channel, onSent, onTrouble } = this.#options;
    const visit = this.#visit;
    if (!visit) return;
    this.#sending = true;
    this.#fields.disabled = true;
    this.#randomiseAgainButton.disabled = true;
    this.#sendButton.disabled = true;
    setStatus("Sending …");
    try {
      await channel.ownReportSender.send(visit);
      this.#sending = false;
      this.show();
      onSent();
    } catch (error) {
      // An older upload may have failed before this report was drawn.
      const drawn = channel.ledger.pending?.ownAnswers !== undefined;
      this.#sending = drawn;
      if (!drawn) this.show();
      setStatus(unsentReportText(drawn));
      onTrouble(error);
    }
  }
}

const PREVIEW_STATUS =
  "This report was made here and is sent nowhere. The seed decides which question the last byte answers. The seed does not depend on your answers. A sent visit spends another ε, in addition to the ε of the report above.";
const SENT_STATUS =
  "These bytes left your page and are on the collector’s disk. The collector has nothing else about this visit. The bytes reveal something about one answer only.";

/**
 * Shows a status text, unless it is already shown. Screen readers would announce an unchanged text
 * again.
 */
function setStatus(text: string): void {
  const status = byId("visit-text");
  if (status.textContent !== text) status.textContent = text;
}

/** Returns the code with which a page would report this visit through the package's client. */
export function reportCallCode({ theme, features, loadMs }: Visit): string {
  const list = features.map((feature) => JSON.stringify(feature)).join(", ");
  return `await client.report({\n  theme: ${JSON.stringify(theme)},\n  features: [${list}],\n  loadMs: ${loadMs},\n});`;
}

/** Formats a load time, and its clipped value if that differs. */
export function loadTimeText(loadMs: number): string {
  const [counts, unit] = [clipLoadTime(loadMs), LOAD.unit];
  const as = counts === loadMs ? "" : `, counted as ${formatCount(counts)} ${unit}`;
  return `${formatCount(loadMs)} ${unit}, measured${as}`;
}

function showUploadBytes(upload: Uint8Array, randomizer: VisitsChannel["randomizer"]): void {
  const header = randomizer.uploadHeader(1).length;
  const seeded = header + SEED_BYTES;
  const parts = [
    { name: "task", label: "task and random id", bytes: upload.subarray(0, header) },
    { name: "seed", label: "seed", bytes: upload.subarray(header, seeded) },
    { name: "response", label: "bucket", bytes: upload.subarray(seeded) },
  ] as const;
  const tape = byId("visit-tape");
  tape.replaceChildren(...parts.map((part) => uploadPartElement(part, part.label, false)));
  tape.setAttribute(
    "aria-label",
    `${formatCountWithNoun(upload.length, "byte")} in hexadecimal: ${parts
      .map(({ label, bytes }) => `${label} ${formatHex(bytes)}`)
      .join(", ")}`,
  );
}

/** Waits until this page has loaded, then resolves with its load time in whole milliseconds. */
async function measureLoadTime(): Promise<number> {
  if (document.readyState !== "complete") {
    await new Promise((resolve) => addEventListener("load", resolve, { once: true }));
  }
  // The browser records the end of loading after the event.
  await new Promise((resolve) => setTimeout(resolve));
  const [entry] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return Math.round(entry?.loadEventEnd ?? performance.now());
}
