/** Shared test code: tasks, a scripted `fetch`, and a reader of uploads. */

import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { afterEach, vi } from "vitest";
import type { TaskLedger } from "../budget.js";
import { type Client, type ClientOptions, createClient, type Task } from "../index.js";
import { requestResult } from "../store/indexed.js";

export const SETTINGS = {
  id: "settings",
  items: ["dark-mode", "autoplay", "captions", "Übersetzung"],
  sparsity: 2,
  epsilon: 2,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 2, hashing: "balanced", buckets: 8 },
} as const satisfies Task;

export const RATINGS: Task = {
  ...SETTINGS,
  id: "ratings",
  items: 40,
  sparsity: 6,
  value: "real",
  mechanism: { name: "collision", rule: "occupied", hashing: "independent", buckets: 20 },
};

/** Task with a budget large enough for tests, with `answers` as input. */
export const OFTEN: Task = { ...RATINGS, id: "often", budget: { reports: 10_000 } };

/** Returns answers to {@link OFTEN} that differ for each number below a million. */
export const answers = (number: number) => ({ 0: 1, 1: number / 1e6 });

/** Flag with a memo of a year. Each window has one report. */
export const MEMO = {
  id: "memo",
  epsilon: 1,
  questions: [
    {
      name: "dark",
      kind: "flag",
      mechanism: {
        name: "collision",
        rule: "heaviest",
        favoured: 1,
        hashing: "balanced",
        buckets: 2,
      },
    },
  ],
  budget: { memo: { epsilon: 2, days: 365 } },
} as const satisfies Task;

export const PLUGINS: Task = { ...RATINGS, id: "plugins", items: "open", value: "sign" };

const ONE_OF = { name: "collision", rule: "heaviest", favoured: 1, hashing: "balanced" } as const;
const SEVERAL_OF = { ...SETTINGS.mechanism, hashing: "independent" } as const;

/** Questions of every kind. */
export const SURVEY = {
  id: "survey",
  epsilon: 2,
  questions: [
    {
      name: "theme",
      kind: "choice",
      options: ["dark", "light", "system"],
      mechanism: { ...ONE_OF, buckets: 3 },
    },
    { name: "version", kind: "choice", options: 12, mechanism: { ...ONE_OF, buckets: 6 } },
    { name: "beta", kind: "flag", weight: 3, mechanism: { ...ONE_OF, buckets: 2 } },
    {
      name: "loadMs",
      kind: "number",
      min: 0,
      max: 3000,
      unit: "ms",
      mechanism: { name: "window", drawn: 1, atoms: 6, favoured: 3, values: [377, 444, 522] },
    },
    { name: "seconds", kind: "number", edges: [0, 1, 10], mechanism: { ...ONE_OF, buckets: 2 } },
    {
      name: "features",
      kind: "set",
      options: ["search", "share", "print"],
      sparsity: 2,
      mechanism: SETTINGS.mechanism,
    },
    { name: "plugins", kind: "set", options: "open", sparsity: 2, mechanism: SEVERAL_OF },
    {
      name: "opinions",
      kind: "ratings",
      items: ["dark-mode", "autoplay"],
      sparsity: 2,
      value: "sign",
      mechanism: SETTINGS.mechanism,
    },
    {
      name: "layout",
      kind: "numbers",
      of: [
        { name: "width", min: 0, max: 4000, unit: "px" },
        { name: "zoom", min: 0.25, max: 4 },
        { name: "toString", min: -1, max: 1 },
      ],
      mechanism: { name: "window", drawn: 2, atoms: 4, favoured: 2, values: [3, 5] },
    },
    {
      name: "loadByPlan",
      kind: "cross",
      of: [
        { name: "plan", kind: "choice", options: ["free", "pro"] },
        { name: "loadMs", kind: "number", min: 0, max: 10_000, levels: 3, unit: "ms" },
      ],
      mechanism: { ...ONE_OF, buckets: 6 },
    },
    {
      name: "betaByVersion",
      kind: "cross",
      of: [
        { name: "version", kind: "choice", options: 12 },
        { name: "beta", kind: "flag" },
      ],
      mechanism: { ...ONE_OF, buckets: 8 },
    },
    {
      name: "settings",
      kind: "together",
      of: [
        { name: "compact", kind: "flag" },
        { name: "font", kind: "choice", options: ["serif", "sans"] },
        { name: "zoom", kind: "choice", options: 4 },
      ],
      mechanism: { ...SETTINGS.mechanism, favoured: 3, buckets: 8 },
    },
  ],
} as const satisfies Task;

/**
 * Parsed upload: a header of 1 + 16 + 16 bytes and a varint, as in `src/upload/mod.rs`, then
 * reports.
 */
export interface ReadUpload {
  readonly fingerprint: string;
  readonly id: string;
  readonly count: number;
  readonly reports: Uint8Array;
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Parses a body that contains one upload. */
export function readUpload(bytes: Uint8Array): ReadUpload {
  let count = 0;
  let offset = 33;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[offset++];
    if (byte === undefined || bytes[0] !== 1) {
      throw new Error("not an upload");
    }
    count |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      break;
    }
  }
  return {
    fingerprint: hex(bytes.subarray(1, 17)),
    id: hex(bytes.subarray(17, 33)),
    count,
    reports: bytes.subarray(offset),
  };
}

/** Returns the ids of uploads of one report each. All begin with the same bytes. */
export function idsOf(bytes: Uint8Array): string[] {
  const text = hex(bytes);
  const head = text.slice(0, 34);
  const ids: string[] = [];
  for (let at = 0; at !== -1; at = text.indexOf(head, at + 66)) {
    ids.push(text.slice(at + 34, at + 66));
  }
  return ids;
}

/**
 * Response, or `"down"` for an unreachable collector, or `"silent"` for a response that never
 * comes.
 */
export type Answer = Response | "down" | "silent";

/** Returns the response of a collector that has stored `uploads`. */
export const created = (uploads = 1) =>
  Response.json({ uploads, accepted_reports: uploads, duplicate_uploads: 0 }, { status: 201 });

export const problem = (status: number, slug: string, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ type: `urn:hushbin:problem:${slug}`, detail: `because ${slug}` }), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });

export interface Sent {
  readonly url: string;
  readonly init: RequestInit;
  /** Copy of the body, so that later changes of the original are noticed. */
  readonly bytes: Uint8Array;
}

/**
 * Collector behind a `fetch` that first returns scripted responses, and then accepts everything.
 */
export class FakeCollector {
  readonly sent: Sent[] = [];
  readonly answers: Answer[];

  constructor(...answers: Answer[]) {
    this.answers = answers;
  }

  readonly fetch: typeof globalThis.fetch = async (url, init = {}) => {
    const bytes = new Uint8Array(init.body instanceof Uint8Array ? init.body : []);
    this.sent.push({ url: String(url), init, bytes });
    const answer = this.answers.shift() ?? created(idsOf(bytes).length);
    if (answer === "down") {
      throw new TypeError("fetch failed");
    }
    if (answer === "silent") {
      return new Promise((_, reject) => {
        init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
      });
    }
    return answer;
  };

  /** Number of reports in each request, in order of arrival. */
  get counts(): number[] {
    return this.sent.map(({ bytes }) => idsOf(bytes).length);
  }
}

const clients: Client[] = [];

/** Makes a client with consent, destroyed after the test. */
export function clientOf(
  collector: FakeCollector,
  options: Partial<ClientOptions> = {},
  create: typeof createClient = createClient,
): Client {
  const client = create({
    endpoint: "https://collector.example",
    task: OFTEN,
    fetch: collector.fetch,
    consent: true,
    maxEpsilon: Number.POSITIVE_INFINITY,
    storage: "memory",
    ...options,
  });
  clients.push(client);
  return client;
}

afterEach(() => clients.splice(0).forEach((client) => void client.destroy()));

/** Part of a page whose events a client uses: its document and its window in one. */
export class StubPage extends EventTarget {
  visibilityState = "visible";

  /** Hides or shows the page. */
  set hidden(hidden: boolean) {
    this.visibilityState = hidden ? "hidden" : "visible";
    this.dispatchEvent(new Event("visibilitychange"));
  }

  tell(name: string, persisted = false): void {
    this.dispatchEvent(Object.assign(new Event(name), { persisted }));
  }

  /** Leaves the page, and keeps it in the back/forward cache. */
  putAway(): void {
    this.tell("pagehide", true);
  }

  /** Returns to the page from the back/forward cache. */
  bringBack(): void {
    this.tell("pageshow", true);
  }
}

/** Begins a page. The clients that are created next listen to it. */
export function stubPage(): StubPage {
  const page = new StubPage();
  vi.stubGlobal("document", page);
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  // Tests may spy on the page's own function.
  vi.stubGlobal("removeEventListener", (...given: Parameters<EventTarget["removeEventListener"]>) =>
    page.removeEventListener(...given),
  );
  return page;
}

/** Returns the ledgers of the tasks in the database, in the order of their URLs. */
export async function storedLedgers(): Promise<readonly TaskLedger[]> {
  const database = await requestResult(indexedDB.open("hushbin"));
  const rows = await requestResult(database.transaction("ledgers").objectStore("ledgers").getAll());
  database.close();
  // The other rows belong to collectors.
  return rows.filter((row) => "used" in row);
}

/** Waits until pending work is done: a number of turns, so that slow machines wait for longer. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Replaces the browser's database with an empty one. */
export function stubDatabase(): IDBFactory {
  const factory = new IDBFactory();
  vi.stubGlobal("indexedDB", factory);
  vi.stubGlobal("IDBKeyRange", IDBKeyRange);
  return factory;
}
