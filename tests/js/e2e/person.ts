/** A person's browser that goes through random events. */

import { existsSync, readdirSync, readFileSync, readlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import type * as Hushbin from "../../../www/client/index.js";
import { answers, type Options } from "./harness.js";

declare global {
  /** Client of a person who was never asked for consent. */
  var mute: Hushbin.Client;
}

/** Returns numbers in [0, 1), the same for the same seed (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Events of a tab after or during reports. */
const FATES = ["stay", "offline", "online", "close", "leave", "reload", "crash"] as const;
type Fate = (typeof FATES)[number] | "kill";

/** State that a person's browser remembers once all is sent. */
export interface Remembered {
  readonly reports: number;
  readonly spent: number;
  readonly uploads: readonly string[];
  readonly states: readonly string[];
}

/** Runs in the page: creates its clients. */
export function begin(options: Options): void {
  globalThis.client = hushbin.createClient(options);
  const { consent, ...others } = options;
  const task = { ...others.task, id: "mute" };
  globalThis.mute = hushbin.createClient({ ...others, task });
}

/** Runs in the page: reports, and returns what was stored since then. */
export async function report({ all, since }: { all: Record<string, number>[]; since: number }) {
  all.forEach((answers) => void mute.record(answers));
  const receipts = await Promise.all(all.map((answers) => client.report(answers)));
  const own = (await client.history()).filter(({ at }) => at.getTime() >= since);
  const { durable } = await client.budget();
  return {
    durable,
    outcomes: [...new Set(receipts.map(({ reason = "sent" }) => reason))],
    uploads: own.map(({ bytes }) => String(bytes)),
  };
}

/**
 * Runs in the page: fills the quota of requests that outlive it. Returns whether one more byte is
 * accepted.
 */
export function fillQuota(endpoint: string): Promise<"sent" | "refused"> {
  const post = (length: number) =>
    fetch(`${endpoint}/elsewhere`, {
      method: "POST",
      keepalive: true,
      body: new Uint8Array(length),
    });
  post(64 * 1024).catch(() => {});
  return post(1).then(
    () => "sent",
    () => "refused",
  );
}

/** Runs in the page: sends all waiting reports, with as many attempts as needed. */
export async function settle(): Promise<Remembered> {
  for (let sent = false; !sent; ) {
    try {
      await client.flush();
      sent = true;
    } catch (error) {
      if ((error as Hushbin.HushbinError).code !== "network") {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  const { reports, spent } = await client.budget();
  const history = await client.history();
  return {
    reports,
    spent,
    uploads: history.map(({ bytes }) => String(bytes)),
    states: [...new Set(history.map(({ state }) => state))],
  };
}

/** Way to open a person's browser. Only a profile on disk has a browser that can be killed. */
export interface Profile {
  readonly open: () => Promise<BrowserContext>;
  readonly directory?: string;
}

export class Person {
  /** Uploads of all reports that resolved to "sent", as lists of bytes. */
  readonly told = new Set<string>();
  /** Number of occurrences of each event. */
  readonly fates = new Map<Fate, number>();
  readonly #profile: Profile;
  readonly #site: string;
  readonly #options: Options;
  readonly #random: () => number;
  #context: BrowserContext | undefined;
  #tabs: Page[] = [];
  #made = 0;

  constructor(profile: Profile, site: string, options: Options, random: () => number) {
    this.#profile = profile;
    this.#site = site;
    this.#options = options;
    this.#random = random;
  }

  /** Reports through all events, until `reports` reports resolved to "sent". */
  async live(reports: number): Promise<void> {
    const most = Math.max(40, reports / 8);
    while (this.told.size < reports) {
      const tab = await this.#tab();
      // At least one, because another tab may have added reports meanwhile.
      const missing = Math.max(1, reports - this.told.size);
      const making = this.#report(tab, Math.min(1 + this.#below(most), missing));
      const fate = this.#fate();
      this.fates.set(fate, 1 + (this.fates.get(fate) ?? 0));
      if (fate === "stay" || fate === "offline" || fate === "online") {
        await making;
        await this.#context?.setOffline(fate === "offline");
      } else {
        // The event may come before the reports are made; then they may be missing.
        await Promise.race([making.catch(() => {}), pause(this.#below(100))]);
        await this.#meet(fate, tab);
      }
    }
  }

  /** Returns and sends waiting reports. */
  async settle(): Promise<Remembered> {
    return (await this.#open()).evaluate(settle);
  }

  async close(): Promise<void> {
    await this.#context?.close();
  }

  #below(most: number): number {
    return Math.floor(most * this.#random());
  }

  #fate(): Fate {
    const fates = this.#profile.directory === undefined ? FATES : ([...FATES, "kill"] as const);
    return fates[this.#below(fates.length)] ?? "stay";
  }

  /** Returns one of at most three tabs, new or not. */
  async #tab(): Promise<Page> {
    return this.#tabs[this.#below(3)] ?? this.#open();
  }

  async #open(): Promise<Page> {
    this.#context ??= await this.#profile.open();
    const tab = await this.#context.newPage();
    await this.#enter(tab);
    // Another tab in the same process may crash, too.
    tab.on("crash", () => this.#forget(tab));
    this.#tabs.push(tab);
    return tab;
  }

  async #enter(tab: Page): Promise<void> {
    await this.#context?.setOffline(false);
    await tab.goto(this.#site);
    await tab.waitForFunction(() => "hushbin" in globalThis);
    const options = { ...this.#options, delayMs: this.#below(2) * 3000 };
    await tab.evaluate(begin, options);
  }

  async #report(tab: Page, count: number): Promise<void> {
    const all = Array.from({ length: count }, (_, index) => answers(this.#made + index));
    this.#made += count;
    const made = await tab.evaluate(report, { all, since: Date.now() });
    const { durable, outcomes, uploads } = made;
    if (!durable || outcomes.join() !== "sent" || uploads.length < count) {
      throw new Error(`of ${count} reports ${uploads.length} were stored: ${outcomes}`);
    }
    uploads.forEach((upload) => void this.told.add(upload));
  }

  async #meet(fate: Fate, tab: Page): Promise<void> {
    if (fate === "reload") {
      await this.#enter(tab);
      return;
    }
    this.#forget(tab);
    if (fate === "kill") {
      await this.#kill();
    } else if (fate === "crash") {
      await crash(tab);
    } else {
      await tab.close({ runBeforeUnload: fate === "leave" });
    }
  }

  #forget(tab: Page): void {
    this.#tabs = this.#tabs.filter((other) => other !== tab);
  }

  async #kill(): Promise<void> {
    const { directory } = this.#profile;
    if (this.#context !== undefined && directory !== undefined) {
      await kill(directory, this.#context);
      this.#context = undefined;
      this.#tabs = [];
    }
  }
}

/** Kills the process of a tab immediately. */
export async function crash(tab: Page): Promise<void> {
  const crashed = tab.waitForEvent("crash");
  const session = await tab.context().newCDPSession(tab);
  // The command gets no response.
  session.send("Page.crash").catch(() => {});
  await crashed;
  await tab.close();
}

/** Kills the browser of a profile immediately. */
export async function kill(directory: string, context: BrowserContext): Promise<void> {
  const closed = context.waitForEvent("close");
  // Chromium stores the process of a profile as a link to "host-pid".
  const pid = Number(readlinkSync(join(directory, "SingletonLock")).split("-").at(-1));
  process.kill(pid, "SIGKILL");
  await closed;
  cutLogs(join(directory, "Default", "IndexedDB"));
}

/** Format of LevelDB's logs: blocks of records, each after a checksum, its length and its type. */
const BLOCK = 32_768;
const HEADER = 7;

/**
 * Cuts off the record that Chromium was writing when it was killed.
 *
 * The record belongs to no complete transaction. The next start of Chromium skips it but appends
 * after it. The start after that takes it for damage and discards the whole database. So two kills
 * would lose all data of any page.
 */
function cutLogs(databases: string): void {
  if (!existsSync(databases)) {
    return;
  }
  for (const name of readdirSync(databases, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".log")) {
      const path = join(databases, name);
      const log = readFileSync(path);
      truncateSync(path, wholeRecords(log));
    }
  }
}

/** Returns the end of the last complete record. */
function wholeRecords(log: Buffer): number {
  for (let at = 0; ; ) {
    const left = BLOCK - (at % BLOCK);
    if (left < HEADER) {
      // No record begins in the rest of the block.
      at += left;
    }
    if (at + HEADER > log.length) {
      return Math.min(at, log.length);
    }
    const end = at + HEADER + log.readUInt16LE(at + 4);
    if (end > log.length) {
      return at;
    }
    at = end;
  }
}
