/** What `<hushbin-history>` shows of one client. */

import { hex } from "../bytes.js";
import type { Client, Sent, Spent } from "../client.js";
import { budgetOf, type Task } from "../task.js";
import { button, el, say, Terms } from "./dom.js";
import { countedBy, factorOf, protectionOf, spentInWindow } from "./facts.js";
import { ReportItem, type Written } from "./report.js";
import type { Words } from "./words.js";

/** What of a client is shown and used. */
export type Watched = Pick<Client, "about" | "consent" | "watch" | "budget" | "history" | "revoke">;

export interface ViewOptions {
  readonly words: Words;
  /** The level of the heading, 1 to 6. */
  readonly level: number;
  /** Whether consent may be revoked here. */
  readonly revocable: boolean;
  /** Told once consent was revoked here. */
  readonly onRevoked: () => void;
}

/** How many reports are shown at first. */
const SHOWN = 10;

function writtenIn(lang: string): Written {
  const date = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
  const number = new Intl.NumberFormat(lang, { maximumSignificantDigits: 6 });
  return { date: (at) => date.format(at), number: (value) => number.format(value) };
}

/** What the task is about, and what its ε means, in sentences. */
function explained(task: Task, words: Words, { number }: Written): [asked: string, means: string] {
  const { epsilon } = task;
  const { about, distance, delta } = protectionOf(task);
  const means = [
    words.meaning(number(epsilon), number(factorOf(epsilon)), about, number(distance)),
  ];
  if (delta > 0) {
    means.push(words.failing(String(delta)));
  }
  if (budgetOf(task).answers === "permanent") {
    means.push(words.permanent);
  }
  if ("questions" in task) {
    const names = task.questions.map(({ name }) => name);
    return [words.asked(names, true), means.join(" ")];
  }
  const { items } = task;
  const asked =
    typeof items === "object"
      ? words.asked(items, false)
      : words.askedOf(items === "open" ? undefined : items);
  return [asked, means.join(" ")];
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
  /** By their uploads, of which no two are alike. */
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
    // So that it can be moved to when the button that was pressed is gone.
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

  /** Shows how things stand once they are read. */
  refresh(): Promise<void> {
    this.#stale = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Reads until nothing has changed meanwhile. */
  async #read(): Promise<void> {
    while (this.#stale) {
      this.#stale = false;
      try {
        const [spent, sent] = await Promise.all([this.#client.budget(), this.#client.history()]);
        this.#show(spent, sent);
      } catch (error) {
        this.#fail(error);
      }
    }
  }

  #fail(error: unknown): void {
    say(this.#status, this.#options.words.failed(String((error as Error).message ?? error)));
  }

  #show(spent: Spent, sent: readonly Sent[]): void {
    const { words, revocable } = this.#options;
    const { about, consent } = this.#client;
    this.#revoked &&= consent === "pending";
    const summary = words.summary(sent.length, countedBy(sent));
    say(this.#status, this.#revoked ? `${words.revoked} ${summary}` : summary);
    say(this.#dryRun, about.dryRun ? words.dryRun : "");
    say(this.#consent, this.#revoked ? "" : words.consent[consent]);
    this.#revoke.hidden = !revocable || consent !== "granted";
    const { task } = about;
    const [asked, means] = task ? explained(task, words, this.#written) : ["", ""];
    say(this.#asked, asked);
    say(this.#meaning, means);
    this.#showSpent(task, spent, sent);
    this.#showReports(sent);
  }

  #showSpent(task: Task | undefined, spent: Spent, sent: readonly Sent[]): void {
    const { words } = this.#options;
    const { date, number } = this.#written;
    const { used, allowed, until, reports, durable } = spent;
    const known = task !== undefined && allowed !== undefined;
    this.#terms.say(
      words.window,
      known ? words.used(used, allowed, number(spentInWindow(task, spent, sent))) : undefined,
    );
    this.#terms.say(words.ends, until && date(until));
    this.#terms.say(words.ever, words.spent(reports, number(spent.spent)));
    const kept = durable ? words.durable : words.fleeting;
    this.#terms.say(words.kept, reports > 0 ? kept : undefined);
  }

  /** The newest first; those that are there stay where they are, open and focused as they were. */
  #showReports(sent: readonly Sent[]): void {
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
    // The button is gone: on with the first that it brought.
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
