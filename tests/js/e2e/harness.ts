/**
 * A real collector, a gateway before it that can misbehave, a server of the
 * built package, and pages in headless Chromium.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type * as Hushbin from "../../../www/client/index.js";
import type * as HushbinSlim from "../../../www/client/slim.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { DIST, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";

declare global {
  /** The package, put there by the page's script. */
  var hushbin: typeof Hushbin;
  var slim: typeof HushbinSlim;
  /** Where pages keep their client between evaluations. */
  var client: Hushbin.Client;
}

/**
 * What lets pages of tests report: consent, a budget that any of their tasks fits in, and no
 * memory beyond a client, so that each is a person of its own.
 */
const ALLOWED = { consent: true, maxEpsilon: 12, storage: "memory" } as const;

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

/** Under hash-bin, what protects single items. */
export const EVENTS: Hushbin.Task = {
  ...RATINGS,
  id: "events",
  mechanism: { name: "hash-bin", level: "event", hashing: "balanced", bins: 2, grid: 256 },
};

/** Under hash-bin, what protects people, by clipping the sum of their values. */
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

/** What one person answers. */
export type Answers = Parameters<Hushbin.Client["report"]>[0];

/** One request as it came through the gateway. */
export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly contentType: string | undefined;
  readonly body: Buffer;
}

/** What the gateway does with the next requests that carry reports. */
export type Fault = "refuse" | "lose-answer";

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Passes requests on, keeps a record of them, and fails where told to. */
export class Gateway {
  readonly passed: Passed[] = [];
  readonly faults: Fault[] = [];
  /** Where to; the collector may come back elsewhere. */
  to = "";
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (incoming, outgoing) => {
      const { method = "", url = "", headers } = incoming;
      // Chromium by itself repeats what fails on a connection used before.
      outgoing.setHeader("connection", "close");
      const body = await bodyOf(incoming);
      this.passed.push({ method, path: url, contentType: headers["content-type"], body });
      const fault = method === "POST" ? this.faults.shift() : undefined;
      if (fault === "refuse") {
        outgoing.destroy();
        return;
      }
      const onward = request(this.to + url, { method, headers }, async (answer) => {
        const bytes = await bodyOf(answer);
        if (fault === "lose-answer") {
          outgoing.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, connection: "close" });
        outgoing.end(bytes);
      });
      onward.on("error", () => outgoing.destroy());
      onward.end(body);
    });
  }

  get posts(): Passed[] {
    return this.passed.filter(({ method }) => method === "POST");
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    if (address === null || typeof address === "string") {
      throw new Error("the gateway has no port");
    }
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

export interface Estimate {
  readonly estimate: number;
  readonly simultaneous_interval: readonly [number, number];
}

export interface Estimates {
  readonly reports: number;
  readonly fingerprint: string;
  readonly privacy: { readonly protects: string; readonly statement: string };
  readonly bias?: string;
  readonly estimates: readonly {
    readonly item: string | number;
    readonly mean: Estimate;
    // As far as the mechanism estimates them.
    readonly plus?: Estimate;
    readonly minus?: Estimate;
    readonly nonmissing?: Estimate;
  }[];
}

/**
 * A profile of its own. Waits in it end on conditions, or shortly before the
 * runner gives the test up, with what was waited for.
 */
export async function newContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(300_000);
  return context;
}

/** Everything, started and stopped together. */
export class World {
  readonly gateway = new Gateway();
  /** What pages are told: the gateway's address, another origin than theirs. */
  endpoint = "";
  /** Where pages come from. */
  site = "";
  collector!: Collector;
  #browser!: Browser;
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
    world.#browser = await launchChromium();
    return world;
  }

  /** Serves the package and an empty page that loads it; another policy is another site. */
  async serveSite(policy?: string): Promise<string> {
    const script = (body: string) => ({ type: "text/javascript", body });
    const site = await serve({
      directories: { "/dist/": DIST },
      documents: {
        "/": {
          type: "text/html",
          body: '<!doctype html><title>page</title><script type="module" src="/entry.js"></script>',
        },
        "/entry.js": script(
          'import * as hushbin from "/dist/index.js"; import * as slim from "/dist/slim.js"; Object.assign(globalThis, { hushbin, slim });',
        ),
        "/worker.js": script(
          `import { createClient } from "/dist/index.js";
           onmessage = async ({ data: { input, ...options } }) => {
             const client = await createClient(options);
             await client.report(input);
             await client.close();
             postMessage("closed");
           };`,
        ),
      },
      ...(policy === undefined ? {} : { policy }),
    });
    this.#closers.push(site.close);
    return site.url;
  }

  async startCollector(): Promise<void> {
    this.collector = await startCollector({
      program: join(TARGET, "debug/hushbin"),
      data: join(this.#directory, "data"),
      tasks: this.#tasks,
    });
    this.gateway.to = this.collector.url;
  }

  /** A page that has loaded the package; each in a profile of its own. */
  async page({ site = this.site, init }: { site?: string; init?: () => void } = {}): Promise<Page> {
    const context = await newContext(this.#browser);
    const page = await context.newPage();
    if (init !== undefined) {
      await page.addInitScript(init);
    }
    await page.goto(site);
    await page.waitForFunction(() => "hushbin" in globalThis);
    return page;
  }

  /**
   * Reports what so many people answer, through the package in one page, and waits until
   * the collector has all of it.
   */
  async reportAll(task: string, answers: readonly Answers[]): Promise<void> {
    const page = await this.page();
    // Not by the gateway, which opens a connection for each request: there are only so many.
    const endpoint = this.collector.url;
    const pending = await page.evaluate(
      async ({ endpoint, task, allowed, together, answers }) => {
        const described = await fetch(`${endpoint}/tasks/${task}`);
        const { task: complete } = (await described.json()) as { task: Hushbin.Task };
        // Of everybody a client: what one may spend is not for many.
        const report = async (own: Answers) => {
          const client = await hushbin.createClient({ endpoint, task: complete, ...allowed });
          await client.report(own);
          await client.flush();
          const { pending } = client;
          await client.close();
          return pending;
        };
        let pending = 0;
        for (let from = 0; from < answers.length; from += together) {
          const some = answers.slice(from, from + together).map(report);
          for (const left of await Promise.all(some)) pending += left;
        }
        return pending;
      },
      { endpoint, task, allowed: ALLOWED, together: 100, answers },
    );
    if (pending !== 0) throw new Error(`${pending} reports were not acknowledged`);
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
    await this.#browser?.close();
    await this.collector?.stop("SIGKILL");
    this.gateway.close();
    for (const close of this.#closers) {
      close();
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
