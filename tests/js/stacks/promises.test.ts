/**
 * Promises to the person, measured in three engines. Each situation states how many reports a
 * browser may send at most, and how many it sent. The book shows the table.
 *
 * HUSHBIN_REGENERATE=1 writes the table instead of comparing it.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { Task } from "../../../www/client/index.js";
import type { Engine, Profile, Tab } from "../../../www/scripts/lib/engines.mjs";
import { ROOT } from "../../../www/scripts/lib/paths.mjs";
import { OFTEN, World } from "../e2e/harness.js";
import { ENGINES, until, within } from "./tabs.js";

const PAGE = join(ROOT, "www/docs/src/privacy/measured.md");
/** Options of the client of a situation. */
type Given = { readonly endpoint: string; readonly task: Task; readonly consent: boolean };

/** What a situation uses. */
interface Stage {
  readonly engine: Engine;
  readonly world: World;
  readonly given: Given;
  /** Site whose pages may contain any frame and script. */
  readonly free: string;
  /** Opens a page of the site in the current profile. */
  open(site?: string): Promise<Tab>;
  /** Replaces the profile by a new one. */
  renew(): Promise<void>;
}

interface Situation {
  readonly name: string;
  readonly promise: string;
  /** Maximum number of reports by the promise. */
  readonly most: number;
  /** Number of further tasks that ask the same. */
  readonly twins?: number;
  readonly budget?: Task["budget"];
  play(stage: Stage): Promise<void>;
}

/** Makes a client in a page, reports once and sends what waits. Returns the outcome. */
const report = (tab: Tab, given: object) =>
  within(
    tab,
    async (given) => {
      globalThis.client?.destroy();
      globalThis.client = hushbin.createClient(given as never);
      try {
        const { reason = "sent" } = await client.report({ 0: 1 } as never);
        await client.flush();
        return reason;
      } catch (error) {
        return (error as { code: string }).code;
      }
    },
    given,
  );

/** Reports from a script of `/classic-worker.js`. */
const reportIn = (tab: Tab, kind: string, given: object) =>
  within(
    tab,
    ({ kind, given }) =>
      new Promise<unknown>((resolve, reject) => {
        const hear = ({ data }: MessageEvent) => resolve(data);
        const file = "/classic-worker.js";
        if (kind === "Worker") {
          const worker = new Worker(file);
          worker.onmessage = hear;
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage(given);
        } else if (kind === "SharedWorker") {
          const { port } = new SharedWorker(file);
          port.onmessage = hear;
          port.postMessage(given);
        } else {
          navigator.serviceWorker.onmessage = hear;
          navigator.serviceWorker.register(file).then(async () => {
            const { active } = await navigator.serviceWorker.ready;
            active?.postMessage(given);
          }, reject);
        }
      }),
    { kind, given },
  );

const deleteDatabase = (tab: Tab) =>
  within(
    tab,
    () =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.deleteDatabase("hushbin");
        request.onsuccess = () => resolve();
        request.onerror = () => reject(request.error);
      }),
    null,
  );

const SITUATIONS: readonly Situation[] = [
  {
    name: "ten page views",
    promise: "one report in the window",
    most: 1,
    async play({ open, given }) {
      const tab = await open();
      for (let view = 0; view < 10; view += 1) {
        await report(tab, given);
        await tab.reload();
        await until(() => tab.evaluate("'hushbin' in globalThis"));
      }
    },
  },
  {
    name: "twenty tabs at once",
    promise: "one report in the window",
    most: 1,
    async play({ open, given }) {
      const tabs: Tab[] = [];
      for (let tab = 0; tab < 20; tab += 1) {
        tabs.push(await open());
      }
      for (const tab of tabs) {
        // The driver of one engine takes commands one by one, so the pages only begin here.
        await within(
          tab,
          (given) => {
            globalThis.client = hushbin.createClient(given as never);
            client.record({ 0: 1 } as never);
          },
          given,
        );
      }
      for (const tab of tabs) {
        await within(tab, () => client.close(), null);
      }
    },
  },
  {
    name: "twenty tasks that ask the same",
    promise: "`maxEpsilon` limits the sum: one task of ε = 2",
    most: 1,
    twins: 19,
    async play({ open, given }) {
      const tab = await open();
      for (let twin = 0; twin < 20; twin += 1) {
        const id = twin === 0 ? given.task.id : `${given.task.id}-${twin}`;
        await report(tab, { ...given, task: { ...given.task, id } });
      }
    },
  },
  {
    name: "two origins",
    promise: "one report for each origin",
    most: 2,
    async play({ open, given, world }) {
      await report(await open(), given);
      await report(await open(world.site.replace("localhost", "127.0.0.1")), given);
    },
  },
  {
    name: "a frame of another site, five views",
    promise: "one report for each site that embeds the frame, if the browser stores data there",
    most: 1,
    async play({ open, given, free }) {
      for (let view = 0; view < 5; view += 1) {
        const tab = await open(free);
        await within(
          tab,
          ({ given, site }) =>
            new Promise((resolve) => {
              addEventListener("message", ({ data }) => resolve(data), { once: true });
              const frame = document.createElement("iframe");
              frame.src = `${site}/framed?${encodeURIComponent(JSON.stringify(given))}`;
              document.body.append(frame);
            }),
          { given, site: free.replace("localhost", "127.0.0.1") },
        );
        await tab.close();
      }
    },
  },
  {
    name: "a sandboxed frame, five views",
    promise: "nothing: the frame has no storage",
    most: 0,
    async play({ open, given, free }) {
      const tab = await open(free);
      for (let view = 0; view < 5; view += 1) {
        await within(
          tab,
          ({ given, site }) =>
            new Promise((resolve) => {
              addEventListener("message", ({ data }) => resolve(data), { once: true });
              const frame = document.createElement("iframe");
              frame.setAttribute("sandbox", "allow-scripts");
              frame.src = `${site}/framed?${encodeURIComponent(JSON.stringify(given))}`;
              document.body.append(frame);
            }),
          { given, site: free },
        );
      }
    },
  },
  {
    name: "blocked storage, five views",
    promise: "nothing",
    most: 0,
    async play({ open, given }) {
      const tab = await open();
      for (let view = 0; view < 5; view += 1) {
        await within(
          tab,
          () => {
            Object.defineProperty(globalThis, "indexedDB", {
              get() {
                throw new DOMException("blocked", "SecurityError");
              },
            });
          },
          null,
        );
        await report(tab, given);
        await tab.reload();
        await until(() => tab.evaluate("'hushbin' in globalThis"));
      }
    },
  },
  {
    name: "a private window, closed and opened again",
    promise: "one report for each: browsers forget it",
    most: 2,
    async play({ open, renew, given }) {
      await report(await open(), given);
      await renew();
      await report(await open(), given);
    },
  },
  {
    name: "page, worker, shared worker, service worker",
    promise: "one report in the window",
    most: 1,
    async play({ open, given }) {
      const tab = await open();
      for (const kind of ["Worker", "SharedWorker", "ServiceWorker"]) {
        await reportIn(tab, kind, given);
      }
      await report(tab, given);
    },
  },
  {
    name: "a report that waits while consent is revoked in another tab",
    promise: "nothing: the report is withdrawn",
    most: 0,
    async play({ open, given }) {
      const [tab, other] = [await open(), await open()];
      await within(
        tab,
        async (given) => {
          // The collector cannot be reached until the page says so.
          Object.assign(globalThis, { reachable: false });
          const fetch = (...request: Parameters<typeof globalThis.fetch>) =>
            Reflect.get(globalThis, "reachable")
              ? globalThis.fetch(...request)
              : Promise.reject(new TypeError("no network"));
          globalThis.client = hushbin.createClient({ ...given, fetch } as never);
          await client.report({ 0: 1 } as never);
        },
        given,
      );
      await within(
        other,
        async (given) => {
          globalThis.client = hushbin.createClient({ ...given, consent: false } as never);
          await client.revoke();
        },
        given,
      );
      await within(
        tab,
        () => {
          Object.assign(globalThis, { reachable: true });
          return client.flush();
        },
        null,
      );
      await tab.close();
    },
  },
  {
    name: "the clock set back by a year, and right again",
    promise: "one report: a window ends at its own time",
    most: 1,
    async play({ open, given }) {
      const tab = await open();
      for (const days of [0, -365, 0, 29]) {
        await within(
          tab,
          (days) => {
            const now = Date.now.bind(Date);
            Date.now = () => now() + days * 86_400_000;
          },
          days,
        );
        await report(tab, given);
        await tab.reload();
        await until(() => tab.evaluate("'hushbin' in globalThis"));
      }
    },
  },
  {
    name: "cleared data, also Safari's after seven days",
    promise: "one report more each time: the browser forgets",
    most: 2,
    async play({ open, given }) {
      const tab = await open();
      await report(tab, given);
      await within(tab, () => client.close(), null);
      await deleteDatabase(tab);
      await tab.reload();
      await until(() => tab.evaluate("'hushbin' in globalThis"));
      await report(tab, given);
      await report(tab, given);
    },
  },
  {
    name: "a database deleted while the page is open",
    promise: "the page goes on; one report more each time",
    most: 2,
    async play({ open, given }) {
      const [tab, other] = [await open(), await open()];
      await report(tab, given);
      await deleteDatabase(other);
      await within(
        tab,
        async () => {
          for (let again = 0; again < 3; again += 1) {
            await client.report({ 0: 1 } as never);
          }
          await client.flush();
        },
        null,
      );
    },
  },
  {
    name: "three versions of a task in one window",
    promise: "one report: the ledger belongs to the task's id",
    most: 1,
    async play({ open, given }) {
      const tab = await open();
      for (const sparsity of [3, 2, 1]) {
        await report(tab, { ...given, task: { ...given.task, sparsity } });
      }
    },
  },
  {
    name: "a prerendered page that is never shown",
    promise: "nothing",
    most: 0,
    async play({ open, given }) {
      const tab = await open();
      await within(
        tab,
        (given) => {
          Object.defineProperty(document, "prerendering", { value: true });
          globalThis.client = hushbin.createClient(given as never);
          client.record({ 0: 1 } as never);
        },
        given,
      );
      await pause(500);
      await tab.close();
    },
  },
  {
    name: "left and back (page cache)",
    promise: "one report in the window",
    most: 1,
    async play({ open, given, world }) {
      const tab = await open();
      await report(tab, given);
      for (let again = 0; again < 3; again += 1) {
        await tab.go(world.elsewhere);
        await tab.back();
        await until(() => tab.evaluate("'hushbin' in globalThis"));
        await report(tab, given);
      }
    },
  },
];

const idOf = (index: number) => `situation-${index}`;
const taskOf = ({ budget }: Situation, id: string): Task => {
  const { budget: _, ...task } = OFTEN;
  return { ...task, id, epsilon: 2, ...(budget && { budget }) };
};
const TASKS = SITUATIONS.flatMap((situation, index) =>
  Array.from({ length: 1 + (situation.twins ?? 0) }, (_, twin) =>
    taskOf(situation, twin === 0 ? idOf(index) : `${idOf(index)}-${twin}`),
  ),
);

/** Measured numbers of reports, by situation and engine. */
const measured = SITUATIONS.map(() => [] as number[]);

describe.each(ENGINES)("%s", (_, launch) => {
  let world: World | undefined;
  let free: string | undefined;
  let engine: Engine | undefined;
  let profile: Profile | undefined;

  afterAll(async () => {
    await profile?.close();
    await Promise.all([world?.stop(), engine?.close()]);
  });

  it.each(SITUATIONS.map((situation, index) => [situation.name, index] as const))(
    "keeps its promise with %s",
    async (_, index) => {
      world ??= await World.start(...TASKS);
      free ??= await world.serveSite(
        "default-src * data: blob: 'unsafe-inline' 'wasm-unsafe-eval'",
      );
      engine ??= await launch();
      const situation = SITUATIONS[index] as Situation;
      const own = { world, engine, free };
      profile = await engine.profile();
      await situation.play({
        ...own,
        given: { endpoint: world.endpoint, task: taskOf(situation, idOf(index)), consent: true },
        async open(site = own.world.site) {
          const tab = await (profile as Profile).open(site);
          await until(() => tab.evaluate("'hushbin' in globalThis"));
          return tab;
        },
        async renew() {
          await profile?.close();
          profile = await own.engine.profile();
        },
      });
      await profile.close();
      profile = undefined;
      let sent = 0;
      for (const { id } of TASKS) {
        if (id === idOf(index) || id.startsWith(`${idOf(index)}-`)) {
          sent += world.gateway.uploads(id).size;
        }
      }
      measured[index]?.push(sent);
      expect(sent).toBeLessThanOrEqual(situation.most);
    },
  );
});

it("says in the book what was measured", () => {
  const rows = SITUATIONS.map(
    ({ name, promise, most }, index) =>
      `| ${name} | ${promise} | ${most} | ${(measured[index] ?? []).join(" | ")} |`,
  );
  const table = [
    `| situation | promise | at most | ${ENGINES.map(([name]) => name).join(" | ")} |`,
    "|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
  const text = readFileSync(PAGE, "utf8");
  const updated = text.replace(/\| situation [\s\S]*\|\n(?=\n|$)/, `${table}\n`);
  if (process.env.HUSHBIN_REGENERATE === "1") {
    writeFileSync(PAGE, updated);
  }
  expect(readFileSync(PAGE, "utf8")).toBe(updated);
});
