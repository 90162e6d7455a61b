/**
 * Consent managers as npm has them, in Chromium: the person decides in the manager's own window, and
 * nothing is stored or requested before.
 */

import { join } from "node:path";
import { build } from "esbuild";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { stackToolsFolder } from "../../../www/scripts/lib/stack-tools.mjs";
import { OFTEN, World } from "../e2e/harness.js";

const PACKAGES = join(stackToolsFolder(), "node_modules");

/** IAB's parts of a manager, as one module for pages. */
async function bundleFramework(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { CmpApi } from "@iabtechlabtcf/cmpapi";
        export { GVL, TCModel, TCString } from "@iabtechlabtcf/core";`,
      resolveDir: stackToolsFolder(),
    },
    bundle: true,
    format: "esm",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

/** A manager in a page, and what a person does in it. */
interface Manager {
  /** Elements before the page's module. */
  readonly head: string;
  /** Statements after the client was created, in a module. */
  readonly follow: string;
  /** Shown while the person has not decided. */
  readonly asks?: string;
  accept(page: Page): Promise<unknown>;
  refuse(page: Page): Promise<unknown>;
  /** Withdraws the consent that was given before. */
  withdraw(page: Page): Promise<unknown>;
}

/** Clicks until the manager's window closes, because it may be shown before it listens. */
const press = (window: string, button: string) => (page: Page) =>
  expect
    .poll(async () => {
      const isOpen = await page.locator(window).isVisible();
      if (isOpen) {
        // A click of the tool would wait for a button that goes meanwhile.
        const buttons = page.locator(button);
        await buttons.evaluateAll(([first]) => (first as HTMLElement | undefined)?.click());
      }
      return isOpen;
    })
    .toBe(false);

/** Runs statements of the page itself. */
const run = (statements: string) => (page: Page) => page.evaluate(statements);

/** What Google's snippet defines, and what a manager calls when the person has decided. */
const GTAG =
  "window.dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments); }";
const update = (state: string) =>
  run(`gtag("consent", "update", { analytics_storage: "${state}" })`);

/** Says a decision in IAB's own implementation of the framework, and remembers it. */
const decide = (purposes: string) => run(`decide(${purposes})`);

const MANAGERS: Readonly<Record<string, Manager>> = {
  "IAB's framework": {
    head: '<script src="/npm/@iabtechlabtcf/stub/lib/stub.js"></script><script>var module = {}</script>',
    follow: `consent.followTcf(client);
      const { CmpApi, GVL, TCModel, TCString } = await import("/tcf.js");
      const list = new GVL({ gvlSpecificationVersion: 3, vendorListVersion: 1, tcfPolicyVersion: 5,
        lastUpdated: "2026-01-01T00:00:00Z", purposes: {}, specialPurposes: {}, features: {},
        specialFeatures: {}, stacks: {}, vendors: {}, dataCategories: {} });
      const cmp = new CmpApi(300, 1, true);
      const told = localStorage.getItem("tcf");
      cmp.update(told ?? "", told === null);
      globalThis.decide = (purposes) => {
        const model = new TCModel(list);
        Object.assign(model, { cmpId: 300, cmpVersion: 1, consentScreen: 1, consentLanguage: "EN" });
        model.purposeConsents.set(purposes);
        localStorage.setItem("tcf", TCString.encode(model));
        cmp.update(localStorage.getItem("tcf"), false);
      };`,
    accept: decide("[1, 10]"),
    refuse: decide("[1]"),
    withdraw: decide("[10]"),
  },
  "Google's Consent Mode": {
    head: `<script>${GTAG} gtag("consent", "default", { analytics_storage: "granted" });
      if (localStorage.getItem("choice")) gtag("consent", "update", { analytics_storage: "granted" });</script>`,
    follow: "consent.followConsentMode(client);",
    accept: async (page) => {
      await run('localStorage.setItem("choice", "yes")')(page);
      await update("granted")(page);
    },
    refuse: update("denied"),
    withdraw: update("denied"),
  },
  CookieConsent: {
    head: '<link rel="stylesheet" href="/npm/vanilla-cookieconsent/dist/cookieconsent.css">',
    follow: `consent.followCookieConsent(client);
      const manager = await import("/npm/vanilla-cookieconsent/dist/cookieconsent.esm.js");
      globalThis.manager = manager;
      await manager.run({
        hideFromBots: false,
        categories: { necessary: { enabled: true, readOnly: true }, analytics: {} },
        language: { default: "en", translations: { en: {
          consentModal: { title: "Cookies?", acceptAllBtn: "Yes", acceptNecessaryBtn: "No" },
          preferencesModal: { sections: [] },
        } } },
      });`,
    asks: "#cc-main .cm",
    accept: press("#cc-main .cm", '#cc-main [data-role="all"]'),
    refuse: press("#cc-main .cm", '#cc-main [data-role="necessary"]'),
    withdraw: run("manager.acceptCategory([])"),
  },
  tarteaucitron: {
    head: '<script src="/npm/tarteaucitronjs/tarteaucitron.js"></script>',
    follow: `tarteaucitron.init({ hashtag: "#tac", orientation: "bottom", DenyAllCta: true, AcceptAllCta: true,
        highPrivacy: true, adblocker: false, useExternalCss: false, mandatory: true, bodyPosition: "bottom" });
      consent.followTarteaucitron(client, { name: "Statistics" });`,
    asks: "#tarteaucitronAlertBig",
    accept: press("#tarteaucitronAlertBig", "#tarteaucitronPersonalize2"),
    refuse: press("#tarteaucitronAlertBig", "#tarteaucitronAllDenied2"),
    withdraw: run("tarteaucitron.userInterface.respondAll(false)"),
  },
  Klaro: {
    head: `<script>var klaroConfig = { acceptAll: true, services: [{ name: "statistics", purposes: ["analytics"] }],
        translations: { zz: { privacyPolicyUrl: "/" } } };</script>
      <script src="/npm/klaro/dist/klaro.js"></script>`,
    follow: 'consent.followKlaro(client, "statistics");',
    asks: ".klaro .cookie-notice",
    accept: press(".klaro .cookie-notice", ".klaro .cm-btn-success"),
    refuse: press(".klaro .cookie-notice", ".klaro .cm-btn-danger"),
    withdraw: run(`{ const manager = klaro.getManager();
      manager.updateConsent("statistics", false); manager.saveAndApplyConsents(); }`),
  },
};

const NAMES = Object.keys(MANAGERS);

let world: World;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  world = await World.start(OFTEN);
  const options = { endpoint: world.endpoint, task: OFTEN, maxEpsilon: 1e6, delayMs: 0 };
  const body = ({ head, follow }: Manager) => `<!doctype html><title>page</title>${head}
    <body><script type="module">
      import { createClient } from "/dist/index.js";
      import * as consent from "/dist/consent.js";
      globalThis.client = createClient(${JSON.stringify(options)});
      client.once(() => { globalThis.asked = true; return { 0: 1, 1: Math.random() }; });
      ${follow}
      globalThis.ready = true;
    </script></body>`;
  site = await serve({
    directories: { "/dist/": DIST, "/npm/": PACKAGES },
    documents: {
      "/tcf.js": { type: "text/javascript", body: await bundleFramework() },
      ...Object.fromEntries(
        Object.values(MANAGERS).map((manager, at) => [
          `/${at}`,
          { type: "text/html", body: body(manager) },
        ]),
      ),
    },
    policy: "default-src * data: blob: 'unsafe-inline' 'unsafe-eval'",
  });
});
afterAll(async () => {
  site?.close();
  await world?.stop();
});

/** Opens the page of a manager, and records the paths that it requests of hushbin and a collector. */
async function visit(context: BrowserContext, name: string) {
  const page = await context.newPage();
  const requested: string[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.pathname.startsWith("/dist/") || url.origin === new URL(world.endpoint).origin) {
      requested.push(url.pathname);
    }
  });
  await page.goto(`${site.url}/${NAMES.indexOf(name)}`);
  await page.waitForFunction(() => "ready" in globalThis);
  const { asks } = MANAGERS[name] as Manager;
  return { page, requested, asked: asks ? page.locator(asks).first() : undefined };
}

/** What hushbin has stored in a page's browser. */
const stored = (page: Page) =>
  page.evaluate(async () => [
    ...(await indexedDB.databases()).map(({ name }) => name),
    ...Object.keys(localStorage).filter((key) => key.startsWith("hushbin")),
  ]);

const ENTRIES = ["/dist/index.js", "/dist/consent.js"];
const uploads = () => world.gateway.uploads(OFTEN.id).size;

describe.each(NAMES)("%s", (name) => {
  const { accept, refuse, withdraw } = MANAGERS[name] as Manager;

  it("stores and requests nothing before the person agrees, and reports then", async () => {
    const context = await world.context();
    const { page, requested, asked } = await visit(context, name);
    await asked?.waitFor();
    expect(await page.evaluate(() => client.consent)).toBe("pending");
    expect(await stored(page)).toEqual([]);
    expect(requested).toEqual(ENTRIES);
    const before = uploads();
    await accept(page);
    await expect.poll(uploads).toBe(before + 1);
    expect(await page.evaluate(() => client.consent)).toBe("granted");
    // The manager remembers the choice.
    const later = await visit(context, name);
    await expect.poll(uploads).toBe(before + 2);
    await withdraw(later.page);
    await expect.poll(() => later.page.evaluate(() => client.consent)).toBe("pending");
    await context.close();
  });

  it("stores and requests nothing if the person refuses", async () => {
    const context = await world.context();
    const { page, requested, asked } = await visit(context, name);
    await asked?.waitFor();
    await refuse(page);
    await page.reload();
    await page.waitForFunction(() => "ready" in globalThis);
    expect(await page.evaluate(() => client.consent)).toBe("pending");
    expect(await page.evaluate(() => "asked" in globalThis)).toBe(false);
    expect(await stored(page)).toEqual([]);
    expect(new Set(requested)).toEqual(new Set(ENTRIES));
    await context.close();
  });
});
