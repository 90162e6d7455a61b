/** Section of `<hushbin-history>` about one client. */

import { hex } from "../bytes.js";
import { button, el, say, Terms } from "./dom.js";
import { countedBy } from "./facts.js";
import { type Entry, ReportItem, type Written } from "./report.js";
import { type Told, told, type Watched } from "./told.js";
import type { Words } from "./words.js";

export interface ViewOptions {
  readonly words: Words;
  /** Level of the heading, 1 to 6. */
  readonly level: number;
  /** True if a button that revokes consent is shown. */
  readonly revocable: boolean;
  /** Called after consent was revoked here. */
  readonly onRevoked: () => void;
}

/** Number of reports that are shown at first. */
const SHOWN = 10;

function writtenIn(lang: string): Written {
  const date = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
  const number = new Intl.NumberFormat(lang, { maximumSignificantDigits: 6 });
  return { date: (at) => date.format(at), number: (value) => number.format(value) };
}

export class View {
  readonly section = el("section", "client");
  readonly #client: Watched;
  readonly #options: ViewOptions;
  readonly #written: Written;
  readonly #status = el("p", "status");
  readonly #dryRun = el("p", "dry");
  readonly #consent = el("p", "consent");
  readonly #terms = new Terms("spent");
  readonly #asked = el("p", "asked");
  readonly #meaning = el("p", "meaning");
  readonly #list = el("ul", "reports");
  readonly #more = button("more", () => this.#showAll());
  readonly #revoke = button("revoke", () => void this.#withdraw());
  /** List items, by the hexadecimal digits of their uploads. No two uploads are equal. */
  readonly #items = new Map<string, ReportItem>();
  #shown = SHOWN;
  #revoked = false;
  #reading: Promise<void> | undefined;
  #stale = false;

  constructor(client: Watched, options: ViewOptions) {
    this.#client = client;
    this.#options = options;
    const { words, level } = options;
    this.#written = writtenIn(words.lang);
    const { host, pathname } = new URL(client.about.url);
    const heading = el(`h${level}` as "h2", "task");
    heading.textContent = words.task(pathname.slice(pathname.lastIndexOf("/") + 1), host);
    this.#status.setAttribute("role", "status");
    // Focusable, because focus moves here when the pressed button disappears.
    this.#status.tabIndex = -1;
    this.#revoke.textContent = words.revoke;
    this.section.append(
      heading,
      this.#status,
      this.#dryRun,
      this.#consent,
      this.#terms.list,
      this.#meaning,
      this.#asked,
      this.#list,
      this.#more,
      this.#revoke,
    );
  }

  /** Reads the client's state and shows it. */
  refresh(): Promise<void> {
    this.#stale = true;
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Reads the client's state, and again if it changed in the meantime. */
  async #read(): Promise<void> {
    while (this.#stale) {
      this.#stale = false;
      try {
        this.#show(await told(this.#client, this.#options.words, this.#written));
      } catch (error) {
        this.#fail(error);
      }
    }
    // Synchronous with the last check, so that a later change starts a new reading.
    this.#reading = undefined;
  }

  #fail(error: unknown): void {
    say(this.#status, this.#options.words.failed(String((error as Error).message ?? error)));
  }

  #show(own: Told): void {
    const { words, revocable } = this.#options;
    const { about, consent } = this.#client;
    this.#revoked &&= consent === "pending";
    const { asked, means, entries } = own;
    const summary = words.summary(entries.length, countedBy(entries));
    say(this.#status, this.#revoked ? `${words.revoked} ${summary}` : summary);
    say(this.#dryRun, about.dryRun ? words.dryRun : "");
    say(this.#consent, this.#revoked ? "" : words.consent[consent]);
    this.#revoke.hidden = !revocable || consent !== "granted";
    say(this.#asked, asked);
    say(this.#meaning, means);
    this.#showSpent(own);
    this.#showReports(entries);
  }

  #showSpent({ used, until, ever, reports, durable }: Told): void {
    const { words } = this.#options;
    this.#terms.say(words.window, used);
    this.#terms.say(words.ends, until && this.#written.date(until));
    this.#terms.say(words.ever, ever);
    const kept = durable ? words.durable : words.fleeting;
    this.#terms.say(words.kept, reports > 0 ? kept : undefined);
  }

  /**
   * Shows reports, newest first. Existing items are not moved, so that they stay open and focused.
   */
  #showReports(sent: readonly Entry[]): void {
    const { words } = this.#options;
    const newest = [...sent].reverse().slice(0, this.#shown);
    const gone = new Set(this.#items.keys());
    let before = this.#list.firstChild;
    for (const report of newest) {
      const key = hex(report.bytes);
      gone.delete(key);
      const line = this.#items.get(key) ?? new ReportItem(report, words, this.#written);
      this.#items.set(key, line);
      line.update(report);
      if (line.item === before) {
        before = before.nextSibling;
      } else {
        this.#list.insertBefore(line.item, before);
      }
    }
    for (const key of gone) {
      this.#items.get(key)?.item.remove();
      this.#items.delete(key);
    }
    this.#list.hidden = newest.length === 0;
    this.#more.textContent = words.more(sent.length);
    this.#more.hidden = newest.length === sent.length;
  }

  async #showAll(): Promise<void> {
    const last = this.#list.lastElementChild;
    this.#shown = Number.POSITIVE_INFINITY;
    await this.refresh();
    // The button is gone: focus the first report that it revealed.
    last?.nextElementSibling?.querySelector("summary")?.focus();
  }

  async #withdraw(): Promise<void> {
    try {
      await this.#client.revoke();
      this.#revoked = true;
      this.#options.onRevoked();
    } catch (error) {
      this.#fail(error);
      return;
    }
    await this.refresh();
    this.#status.focus();
  }
}
