/** Section of `<hushbin-history>` that shows one client. */

import { bytesToHex } from "../bytes.js";
import { type ClientTexts, type HistoryClient, readClientTexts } from "./client-texts.js";
import { createButton, DescriptionList, el, setText } from "./dom.js";
import { countReportsByState } from "./facts.js";
import { type Formatters, type ReportEntry, ReportListItem } from "./report.js";
import type { Words } from "./words.js";

export interface ClientViewOptions {
  readonly words: Words;
  /** Level of the heading, 1 to 6. */
  readonly level: number;
  /** True if the section has a button that revokes consent. */
  readonly revocable: boolean;
  /** Called after a person has revoked consent with this button. */
  readonly onRevoked: () => void;
}

/** Number of reports that are shown before a person asks for all. */
const INITIAL_REPORT_COUNT = 10;

function formattersOf(lang: string): Formatters {
  const date = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
  const number = new Intl.NumberFormat(lang, { maximumSignificantDigits: 6 });
  return { date: (at) => date.format(at), number: (value) => number.format(value) };
}

export class ClientView {
  readonly section = el("section", "client");
  readonly #client: HistoryClient;
  readonly #options: ClientViewOptions;
  readonly #formatters: Formatters;
  readonly #status = el("p", "status");
  readonly #dryRun = el("p", "dry");
  readonly #consentElement = el("p", "consent");
  readonly #budgetList = new DescriptionList("spent");
  readonly #coverageElement = el("p", "asked");
  readonly #labelElement = el("p", "label");
  readonly #epsilonMeaningElement = el("p", "meaning");
  readonly #list = el("ul", "reports");
  readonly #showAllButton = createButton("more", () => this.#showAllReports());
  readonly #revokeButton = createButton("revoke", () => void this.#revokeConsent());
  /**
   * List items of reports, by the hexadecimal digits of the upload. No two uploads are equal.
   */
  readonly #itemByUploadHex = new Map<string, ReportListItem>();
  #maxShownReports = INITIAL_REPORT_COUNT;
  #isRevokedHere = false;
  #refreshPromise: Promise<void> | undefined;
  #stale = false;

  constructor(client: HistoryClient, options: ClientViewOptions) {
    this.#client = client;
    this.#options = options;
    const { words, level } = options;
    this.#formatters = formattersOf(words.lang);
    const { host, pathname } = new URL(client.about.url);
    const heading = el(`h${level}` as "h2", "task");
    const [id = "", label] = pathname.slice(pathname.lastIndexOf("/") + 1).split(":");
    heading.textContent = words.task(id, host);
    setText(this.#labelElement, label === undefined ? "" : words.label(label));
    this.#status.setAttribute("role", "status");
    // Focusable, because focus moves here when the pressed button disappears.
    this.#status.tabIndex = -1;
    this.#revokeButton.textContent = words.revoke;
    this.section.append(
      heading,
      this.#status,
      this.#dryRun,
      this.#consentElement,
      this.#budgetList.list,
      this.#epsilonMeaningElement,
      this.#coverageElement,
      this.#labelElement,
      this.#list,
      this.#showAllButton,
      this.#revokeButton,
    );
  }

  /** Reads the state of the client, and shows it. */
  refresh(): Promise<void> {
    this.#stale = true;
    this.#refreshPromise ??= this.#readAndShow();
    return this.#refreshPromise;
  }

  /** Reads and shows the state of the client. Reads it again if it has changed in the meantime. */
  async #readAndShow(): Promise<void> {
    while (this.#stale) {
      this.#stale = false;
      try {
        this.#showTexts(await readClientTexts(this.#client, this.#options.words, this.#formatters));
      } catch (error) {
        this.#showError(error);
      }
    }
    // Synchronous with the last check, so that a later change starts a new reading.
    this.#refreshPromise = undefined;
  }

  #showError(error: unknown): void {
    setText(this.#status, this.#options.words.failed(String((error as Error).message ?? error)));
  }

  #showTexts(own: ClientTexts): void {
    const { words, revocable } = this.#options;
    const { about, consent } = this.#client;
    this.#isRevokedHere &&= consent === "pending";
    const { covers, meaning, entries } = own;
    const summary = words.summary(entries.length, countReportsByState(entries));
    setText(this.#status, this.#isRevokedHere ? `${words.revoked} ${summary}` : summary);
    setText(this.#dryRun, about.dryRun ? words.dryRun : "");
    setText(this.#consentElement, this.#isRevokedHere ? "" : words.consent[consent]);
    this.#revokeButton.hidden = !revocable || consent !== "granted";
    setText(this.#coverageElement, covers);
    setText(this.#epsilonMeaningElement, meaning);
    this.#showBudget(own);
    this.#showReports(entries);
  }

  #showBudget({ used, until, heldUntil, total, reports, durable }: ClientTexts): void {
    const { words } = this.#options;
    this.#budgetList.set(words.window, used);
    this.#budgetList.set(words.held, heldUntil && this.#formatters.date(heldUntil));
    this.#budgetList.set(words.ends, until && this.#formatters.date(until));
    this.#budgetList.set(words.total, total);
    const { storage, dryRun } = this.#client.about;
    const kept = durable ? words.onDevice : words.inMemory;
    const isSilent = !durable && storage === "device" && !dryRun;
    const text = reports > 0 ? kept : undefined;
    this.#budgetList.set(words.storage, isSilent ? words.noStorage : text);
  }

  /**
   * Shows reports, the newest first. Existing list items are not moved, so that they stay open and
   * focused.
   */
  #showReports(sent: readonly ReportEntry[]): void {
    const { words } = this.#options;
    const newest = [...sent].reverse().slice(0, this.#maxShownReports);
    const gone = new Set(this.#itemByUploadHex.keys());
    let before = this.#list.firstChild;
    for (const report of newest) {
      const key = bytesToHex(report.bytes);
      gone.delete(key);
      const line =
        this.#itemByUploadHex.get(key) ?? new ReportListItem(report, words, this.#formatters);
      this.#itemByUploadHex.set(key, line);
      line.update(report);
      if (line.item === before) {
        before = before.nextSibling;
      } else {
        this.#list.insertBefore(line.item, before);
      }
    }
    for (const key of gone) {
      this.#itemByUploadHex.get(key)?.item.remove();
      this.#itemByUploadHex.delete(key);
    }
    this.#list.hidden = newest.length === 0;
    this.#showAllButton.textContent = words.more(sent.length);
    this.#showAllButton.hidden = newest.length === sent.length;
  }

  async #showAllReports(): Promise<void> {
    const last = this.#list.lastElementChild;
    this.#maxShownReports = Number.POSITIVE_INFINITY;
    await this.refresh();
    // The button is gone: focus the first report that it revealed.
    last?.nextElementSibling?.querySelector("summary")?.focus();
  }

  async #revokeConsent(): Promise<void> {
    try {
      await this.#client.revoke();
      this.#isRevokedHere = true;
      this.#options.onRevoked();
    } catch (error) {
      this.#showError(error);
      return;
    }
    await this.refresh();
    this.#status.focus();
  }
}
