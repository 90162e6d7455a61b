/** The demo's story page with a collector behind a gateway, started and stopped together. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { demoTaskFiles } from "../../../www/scripts/build-demo.mjs";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { DEMO_DIST, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { Gateway } from "./gateway.js";
import { newContext } from "./harness.js";

export class Story {
  readonly gateway = new Gateway();
  /** Errors of any page; a test that expects errors clears the list. */
  readonly complaints: string[] = [];
  /** Message that pages show while they have no collector. */
  waiting: string | undefined;
  collector!: Collector;
  #browser!: Browser;
  #site!: Awaited<ReturnType<typeof serve>>;
  readonly #directory = mkdtempSync(join(tmpdir(), "hushbin-demo-e2e-"));

  async start(): Promise<void> {
    this.collector = await startCollector({
      program: join(TARGET, "debug/hushbin"),
      data: join(this.#directory, "data"),
      tasks: demoTaskFiles(),
    });
    this.gateway.to = this.collector.url;
    const endpoint = await this.gateway.listen();
    this.#site = await serve({
      directories: { "/": DEMO_DIST },
      documents: {
        "/config.json": {
          type: "application/json",
          body: () => {
            const { waiting } = this;
            return JSON.stringify(waiting === undefined ? { endpoint } : { waiting });
          },
        },
      },
    });
    this.#browser = await launchChromium();
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
    this.#site?.close();
    this.gateway.close();
    await this.collector?.stop("SIGKILL");
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Clears recorded requests and errors. */
  clear(): void {
    this.gateway.passed.length = 0;
    this.gateway.faults.length = 0;
    this.complaints.length = 0;
  }

  async open(options: BrowserContextOptions = {}, init?: () => void): Promise<Page> {
    const context = await newContext(this.#browser, { reducedMotion: "reduce", ...options });
    const page = await context.newPage();
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) {
        this.complaints.push(message.text());
      }
    });
    if (init) {
      await page.addInitScript(init);
    }
    await page.goto(this.#site.url);
    return page;
  }

  async started(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.open(options);
    await page.waitForSelector("html[data-ready]");
    return page;
  }
}
