/**
 * A real collector behind a gateway, a server of the built package, and pages in headless Chromium.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type * as Hushbin from "../../../www/client/index.js";
import type * as HushbinSlim from "../../../www/client/slim.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { DIST, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { Gateway } from "./gateway.js";

declare global {
  /** Package, set by the page's script. */
  var hushbin: typeof Hushbin;
  var slim: typeof HushbinSlim;
  /** Client of the page, kept between evaluations. */
  var client: Hushbin.Client;
}

/** Options that allow pages to report: consent, and a budget that fits every test's task. */
export const ALLOWED = { consent: true, maxEpsilon: 1e6 };

export const SETTINGS = {
  id: "settings",
  items: ["dark-mode", "autoplay", "captions", "telemetry"],
  sparsity: 2,
  epsilon: 3,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 2, hashing: "balanced", buckets: 10 },
} as const satisfies Hushbin.Task;

export const PLUGINS: Hushbin.Task = {
  ...SETTINGS,
  id: "plugins",
  items: "open",
  mechanism: { ...SETTINGS.mechanism, hashing: "independent" },
};

export const RATINGS: Hushbin.Task = { ...SETTINGS, id: "ratings", items: 12, value: "real" };

export const MEANS: Hushbin.Task = {
  ...RATINGS,
  id: "means",
  mechanism: { name: "coco", rule: "strongest", favoured: 2, hashing: "balanced", buckets: 8 },
};

/** Task with hash-bin that protects single items. */
export const EVENTS: Hushbin.Task = {
  ...RATINGS,
  id: "events",
  mechanism: { name: "hash-bin", level: "event", hashing: "balanced", bins: 2, grid: 256 },
};

/** Task with hash-bin that protects people by clipping the sum of their values. */
export const CLIPPED: Hushbin.Task = {
  ...RATINGS,
  id: "clipped",
  mechanism: {
    name: "hash-bin",
    level: "user",
    clip: 1,
    noise: "two-point",
    hashing: "balanced",
    bins: 1,
    grid: 256,
  },
};

/** Task for many reports of one browser, with any of its {@link answers}. */
export const OFTEN: Hushbin.Task = { ...RATINGS, id: "often", budget: { reports: 10_000 } };

/** Distinct answers to {@link OFTEN}, for numbers below a million. */
export const answers = (number: number) => ({ 0: 1, 1: number / 1e6 });

/** Client options that can be passed to a page. */
export type Options<T extends Hushbin.Task = Hushbin.Task> = Pick<
  Hushbin.ClientOptions<T>,
  "endpoint" | "task" | "consent" | "maxEpsilon" | "delayMs"
>;

/** Answers of one person. */
export type Answers = Parameters<Hushbin.Client["report"]>[0];

export interface Estimate {
  readonly estimate: number;
  readonly simultaneous_interval: readonly [number, number];
}

export interface Estimates {
  readonly reports: number;
  readonly fingerprint: string;
  readonly privacy: { readonly protects: string; readonly statement: string };
  readonly bias_statement?: string;
  readonly estimates: readonly {
    readonly item: string | number;
    readonly mean: Estimate;
    // Only some mechanisms estimate these.
    readonly plus?: Estimate;
    readonly minus?: Estimate;
    readonly nonmissing?: Estimate;
  }[];
}

/**
 * Creates a separate profile. Waits in it time out shortly before the runner's limit, with a
 * description of the condition.
 */
export async function newContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(300_000);
  return context;
}

/** All servers and the browser, started and stopped together. */
export class World {
  readonly gateway = new Gateway();
  /** Endpoint of pages: the gateway's URL, which is of another origin. */
  endpoint = "";
  /** Origin of pages. */
  site = "";
  collector!: Collector;
  /** Browser, started for the first page. */
  #browser: Promise<Browser> | undefined;
  readonly #directory = mkdtempSync(join(tmpdir(), "hushbin-e2e-"));
  readonly #tasks: string[] = [];
  readonly #closers: (() => void)[] = [];

  static async start(...tasks: readonly { readonly id: string }[]): Promise<World> {
    const world = new World();
    for (const task of tasks) {
      const file = join(world.#directory, `${task.id}.json`);
      writeFileSync(file, JSON.stringify(task));
      world.#tasks.push(file);
    }
    world.endpoint = await world.gateway.listen();
    world.site = await world.serveSite();
    await world.startCollector();
    return world;
  }

  /** Serves the package and an empty page that loads it. Each policy is a separate site. */
  async serveSite(policy?: string): Promise<string> {
    const script = (body: string) => ({ type: "text/javascript", body });
    const site = await serve({
      directories: { "/dist/": DIST },
      documents: {
        "/": {
          type: "text/html",
          body: '<!doctype html><title>page</title><script type="module" src="/entry.js"></script>',
        },
        // A frame that reports once, with the options in its URL, and tells its parent the outcome.
        "/framed": {
          type: "text/html",
          body: `<!doctype html><title>framed</title><script src="/dist/hushbin.script.js"></script><script>
            const tell = (outcome) => parent.postMessage(outcome, "*");
            const client = hushbin.createClient(JSON.parse(decodeURIComponent(location.search.slice(1))));
            client.report({ 0: 1 }).then(
              ({ reason = "sent" }) => client.close().then(() => tell(reason)),
              (error) => tell(String(error)),
            );
          </script>`,
        },
        "/alone": {
          type: "text/html",
          body: '<!doctype html><title>alone</title><script type="module" src="/alone.js"></script>',
        },
        "/elsewhere": { type: "text/html", body: "<!doctype html><title>elsewhere</title>" },
        "/entry.js": script(
          'import * as hushbin from "/dist/index.js"; import * as slim from "/dist/slim.js"; Object.assign(globalThis, { hushbin, slim });',
        ),
        "/alone.js": script(
          'import * as hushbin from "/dist/index.js"; Object.assign(globalThis, { hushbin });',
        ),
        "/worker.js": script(
          `import { createClient } from "/dist/index.js";
           onmessage = async ({ data: { input, ...options } }) => {
             const client = createClient(options);
             const { reason = "sent" } = await client.report(input);
             await client.close();
             postMessage(reason);
           };`,
        ),
        // A worker of any kind, without modules. It reports once for each message.
        "/classic-worker.js": script(
          `importScripts("/dist/hushbin.script.js", "/dist/hushbin.script.engine.js", "/dist/hushbin.script.collision-module.js");
           const work = async ({ data, source, ports }) => {
             const client = hushbin.createClient(data);
             const { reason = "sent" } = await client.report({ 0: 1 });
             await client.close();
             (ports[0] ?? source ?? self).postMessage(reason);
           };
           addEventListener("message", work);
           addEventListener("connect", ({ ports: [port] }) => {
             port.onmessage = ({ data }) => work({ data, ports: [port] });
           });`,
        ),
        // A worker that keeps its client, and reports once for each message.
        "/lasting-worker.js": script(
          `import { createClient } from "/dist/index.js";
           let client;
           let number = 2;
           onmessage = async ({ data }) => {
             client ??= createClient(data);
             number += 1;
             const { reason = "sent" } = await client.report({ 0: 1, 1: number / 1e6 });
             await client.flush();
             postMessage(reason);
           };`,
        ),
      },
      ...(policy === undefined ? {} : { policy }),
    });
    this.#closers.push(site.close);
    return site.url;
  }

  /**
   * Page of another site. It is not the gateway's, because faults may hold all of its connections.
   */
  get elsewhere(): string {
    return `${this.site.replace("localhost", "127.0.0.1")}/elsewhere`;
  }

  async startCollector(): Promise<void> {
    this.collector = await startCollector({
      program: join(TARGET, "debug/hushbin"),
      data: join(this.#directory, "data"),
      tasks: this.#tasks,
    });
    this.gateway.to = this.collector.url;
  }

  /** Creates a separate profile in memory. */
  async context(): Promise<BrowserContext> {
    this.#browser ??= launchChromium();
    return newContext(await this.#browser);
  }

  /** Returns a directory that is removed at the end. */
  directory(name: string): string {
    return join(this.#directory, name);
  }

  /** Opens an empty page in a separate profile. */
  async blank(): Promise<Page> {
    return (await this.context()).newPage();
  }

  /** Opens a page with the package in a separate profile. */
  async page({ site = this.site, init }: { site?: string; init?: () => void } = {}): Promise<Page> {
    const page = await this.blank();
    if (init !== undefined) {
      await page.addInitScript(init);
    }
    await page.goto(site);
    await page.waitForFunction(() => "hushbin" in globalThis);
    return page;
  }

  /**
   * Reports the answers of many people and waits until the collector has them all. The package in a
   * page randomises each separately. It uses no client, as a client is for one person.
   */
  async reportAll(task: string, answers: readonly Answers[], page?: Page): Promise<void> {
    const own = page ?? (await this.page());
    await own.evaluate(
      async ({ url, answers }) => {
        const { task } = await (await fetch(url)).json();
        const randomizer = await hushbin.createRandomizer({ task });
        while (answers.length > 0) {
          const reports = answers.splice(0, 4096).map((own) => randomizer.randomize(own));
          const bytes = await new Blob(reports as BlobPart[]).arrayBuffer();
          const body = randomizer.upload(new Uint8Array(bytes), reports.length);
          const { status } = await fetch(`${url}/reports`, { method: "POST", body });
          if (status !== 201) throw new Error(`the collector answered ${status}`);
        }
      },
      { url: `${this.endpoint}/tasks/${task}`, answers: [...answers] },
    );
    if (page === undefined) await own.context().close();
  }

  async estimates(task: string, query = ""): Promise<Estimates> {
    const response = await fetch(`${this.collector.url}/tasks/${task}/estimates?${query}`);
    if (!response.ok) {
      throw new Error(`estimates: ${response.status} ${await response.text()}`);
    }
    return response.json() as Promise<Estimates>;
  }

  async reports(task: string): Promise<number> {
    return (await this.estimates(task, task === "plugins" ? "items=x" : "")).reports;
  }

  async stop(): Promise<void> {
    await (await this.#browser)?.close();
    await this.collector?.stop("SIGKILL");
    this.gateway.close();
    for (const close of this.#closers) {
      close();
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
