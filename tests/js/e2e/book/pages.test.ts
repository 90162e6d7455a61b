/** The book in headless Chromium, with the pages that it embeds. */

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchChromium } from "../../../../www/scripts/lib/browser.mjs";
import { DEMO_DIST } from "../../../../www/scripts/lib/paths.mjs";
import { BOOK_POLICY, serve } from "../../../../www/scripts/lib/serve.mjs";
import { violations } from "../axe.js";
import { newContext } from "../harness.js";

let site: Awaited<ReturnType<typeof serve>>;
let browser: Browser;
/** URLs of all chapters, from the first page. */
let chapters: readonly string[];
/** Errors of any page, and origins of all requests. */
const complaints: string[] = [];
const origins = new Set<string>();

beforeAll(async () => {
  site = await serve({
    directories: { "/": DEMO_DIST },
    policies: { "/book/": BOOK_POLICY },
  });
  browser = await launchChromium();
  const page = await open("/book/");
  const links = page.locator("#mdbook-sidebar a[href]");
  const addresses = await links.evaluateAll((all) =>
    all.map((link) => (link as HTMLAnchorElement).href.replace(/#.*/, "")),
  );
  chapters = [...new Set(addresses)];
  expect(chapters.length).toBeGreaterThan(30);
  await page.context().close();
});
afterAll(async () => {
  await browser?.close();
  site?.close();
});

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await newContext(browser, { reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()))
      complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("response", (response) => {
    if (!response.ok()) complaints.push(`${response.status()} of ${response.url()}`);
  });
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  await page.goto(new URL(path, site.url).href);
  return page;
}

it("leads nowhere that is not there", async () => {
  const page = await open("/book/");
  const broken = await page.evaluate(async (addresses) => {
    const parsed = new Map<string, Document | null>();
    const read = async (address: string) => {
      if (!parsed.has(address)) {
        const response = await fetch(address);
        const isPage = response.headers.get("content-type")?.startsWith("text/html");
        const text = response.ok ? await response.text() : null;
        parsed.set(
          address,
          text === null ? null : new DOMParser().parseFromString(isPage ? text : "", "text/html"),
        );
      }
      return parsed.get(address) ?? null;
    };
    const found: string[] = [];
    for (const address of addresses) {
      const chapter = await read(address);
      for (const element of chapter?.querySelectorAll("main :is([href], [src])") ?? []) {
        const target = element.getAttribute("href") ?? element.getAttribute("src") ?? "";
        const url = new URL(target, address);
        if (url.origin !== location.origin) continue;
        const there = await read(url.origin + url.pathname);
        const id = decodeURIComponent(url.hash.slice(1));
        if (there === null || (id !== "" && there.getElementById(id) === null)) {
          found.push(`${new URL(address).pathname} leads to ${target}`);
        }
      }
    }
    return found;
  }, chapters);
  expect(broken).toEqual([]);
  await page.context().close();
});

it("finds words", async () => {
  const page = await open("/book/why/costs.html");
  await page.keyboard.press("s");
  await page.keyboard.type("shrinkage");
  const results = page.locator("#mdbook-searchresults a");
  await results.first().waitFor();
  expect((await results.allTextContents()).join("\n")).toMatch(/made of estimates/);
  await results.first().click();
  await page.locator("main mark").first().waitFor();
  await page.context().close();
});

it("shows the planner, which plans", async () => {
  const page = await open("/book/ask/plan.html");
  const planner = page.frameLocator("iframe.planner");
  await planner.locator("#verdict, .verdict").first().filter({ hasText: /\d/ }).waitFor();
  await page.context().close();
});

/** Classes of the book's themes, by the ground that a reader prefers. */
const THEMES = { light: "light", dark: "navy" } as const;

/** Waits until a page shows the theme for this ground, with the style sheets of the theme. */
const themed = (page: Page, ground: keyof typeof THEMES) =>
  page.waitForFunction(
    (theme) =>
      document.documentElement.classList.contains(theme) &&
      [...document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")].every(
        ({ disabled, sheet }) => disabled || sheet !== null,
      ),
    THEMES[ground],
  );

// All chapters take longer than one test may.
it("reads well on light and dark ground, for everybody, and fits narrow screens", async () => {
  const found: string[] = [];
  let [ground, other]: (keyof typeof THEMES)[] = ["light", "dark"] as const;
  const page = await open("/book/", { colorScheme: ground });
  const wide = page.viewportSize() ?? { width: 0, height: 0 };
  // Each chapter is loaded once, as loading costs most. Every second is loaded on dark ground.
  for (const chapter of chapters) {
    await page.goto(chapter);
    await themed(page, ground);
    found.push(...(await violations(page)).map((violation) => `${chapter}: ${violation}`));
    [ground, other] = [other, ground];
    await page.emulateMedia({ colorScheme: ground });
    await themed(page, ground);
    const colours = await violations(page, { colours: true });
    found.push(...colours.map((violation) => `${chapter}, ${ground}: ${violation}`));
    await page.setViewportSize({ width: 360, height: 740 });
    const width = await page.evaluate(async () => {
      // Narrow screens load the book with a closed list of chapters.
      document.querySelector<HTMLElement>("#mdbook-sidebar-toggle-anchor")?.click();
      localStorage.clear();
      await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
      return document.documentElement.scrollWidth;
    });
    if (width > 360) found.push(`${chapter}: ${width} wide`);
    await page.setViewportSize(wide);
  }
  expect(found).toEqual([]);
  await page.context().close();
}, 3_000_000);

it("begins with a page of less than three screens", async () => {
  const page = await open("/book/", { viewport: { width: 1280, height: 900 } });
  const box = await page.locator("main").boundingBox();
  // It is the README: what hushbin is, what ε means, how many people it takes, how to try it.
  expect(box?.height).toBeLessThanOrEqual(3 * 900);
  await page.context().close();
});

it("asks nobody else and complains of nothing", () => {
  expect([...origins]).toEqual([site.url]);
  expect(complaints).toEqual([]);
});
