// npm run pictures: takes the pictures for the README and the book, as screenshots of the real
// pages.
//
//   npm run pictures [-- --debug]
//
// The pictures show the tasks of the book's chapters, with invented people. The built package
// randomises the reports, and a collector estimates. Every picture is taken in light and in dark
// mode. --debug uses the collector that the tests build. Run npm run build and npm run build:demo
// first.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { demoTaskFiles } from "./build-demo.mjs";
import { CROWDS, PICTURE_PIXEL_RATIO } from "./lib/book/crowds.mjs";
import { CHAPTERS_DIR } from "./lib/book/links.mjs";
import { launchChromium } from "./lib/browser.mjs";
import { buildCollector, startCollector } from "./lib/collector.mjs";
import { DEMO_DIST, DIST, ROOT, TARGET } from "./lib/paths.mjs";
import { main, step } from "./lib/run.mjs";
import { serve } from "./lib/serve.mjs";

const PICTURES_DIR = join(ROOT, CHAPTERS_DIR, "pictures");
const PEOPLE = 20_000;
/** Maximum number of reports in an upload. */
const MAX_REPORTS_PER_UPLOAD = 4096;
/**
 * Sizes of the browser window in CSS pixels: for a picture in the book, and for a picture at half
 * the width of the README.
 */
const BOOK_VIEWPORT = { width: 760, height: 1800 };
const README_VIEWPORT = { width: 1180, height: 560 };

/** Reads a task from a chapter. The task is the JSON block that is labelled with this file name. */
function readTaskFromChapter({ chapter, file }) {
  const text = readFileSync(join(ROOT, CHAPTERS_DIR, chapter), "utf8");
  const [, json] = new RegExp(`^\`\`\`json ${file}\n([\\s\\S]*?)^\`\`\`$`, "m").exec(text) ?? [];
  if (json === undefined) {
    throw new Error(`${chapter} has no block of JSON called ${file}`);
  }
  return JSON.parse(json);
}

/** Randomises and sends the reports of a crowd, and waits until the collector has stored them. */
async function sendCrowdReports(endpoint, id, answers) {
  const { createRandomizer } = await import(join(DIST, "index.js"));
  const { task } = await (await fetch(`${endpoint}/tasks/${id}`)).json();
  const randomizer = await createRandomizer({ task });
  for (let first = 0; first < PEOPLE; first += MAX_REPORTS_PER_UPLOAD) {
    const people = Math.min(MAX_REPORTS_PER_UPLOAD, PEOPLE - first);
    const reports = Array.from({ length: people }, (_, index) =>
      randomizer.randomize(answers(first + index)),
    );
    const bytes = new Uint8Array(await new Blob(reports).arrayBuffer());
    const body = randomizer.upload(bytes, people);
    const response = await fetch(`${endpoint}/tasks/${id}/reports`, { method: "POST", body });
    if (!response.ok) {
      throw new Error(`${id}: ${response.status} ${await response.text()}`);
    }
  }
}

/**
 * Takes a picture twice, in light and in dark mode.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {string} name
 * @param {{ width: number, height: number }} viewport
 * @param {(page: import("playwright-core").Page) => Promise<Buffer>} take
 */
async function inBothThemes(browser, name, viewport, take) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    const page = await browser.newPage({
      colorScheme,
      deviceScaleFactor: PICTURE_PIXEL_RATIO,
      reducedMotion: "reduce",
      viewport,
    });
    try {
      writeFileSync(join(PICTURES_DIR, `${name}-${colorScheme}.png`), await take(page));
    } finally {
      await page.close();
    }
  }
}

/** Waits until the page has drawn the estimates. */
const waitUntilDrawn = (page) =>
  page.locator('#estimates:not([aria-busy="true"]) .body > *').first().waitFor();

async function takeKinds(browser, endpoint) {
  for (const { name, question, file, chapter } of CROWDS) {
    const { id } = readTaskFromChapter({ file, chapter });
    const state = new URLSearchParams({ task: id, ...(question && { question }) });
    await inBothThemes(browser, name, BOOK_VIEWPORT, async (page) => {
      await page.goto(`${endpoint}/dashboard/#${state}`);
      await waitUntilDrawn(page);
      return page.locator("#estimates").screenshot();
    });
  }
}

const takeDashboard = (browser, endpoint) =>
  inBothThemes(browser, "dashboard", README_VIEWPORT, async (page) => {
    await page.goto(`${endpoint}/dashboard/#task=choices&question=features`);
    await waitUntilDrawn(page);
    await page.locator("#estimates").evaluate((panel) => panel.scrollIntoView({ block: "end" }));
    return page.screenshot();
  });

const takeDemo = (browser, site) =>
  inBothThemes(browser, "demo", README_VIEWPORT, async (page) => {
    await page.goto(site);
    await page.locator("#report .byte").first().waitFor();
    await page.locator("#report").evaluate((report) => report.scrollIntoView());
    return page.screenshot();
  });

async function pictures({ debug }) {
  const program = debug
    ? join(TARGET, "debug/hushbin")
    : await step("build: collector", buildCollector);
  const folder = mkdtempSync(join(tmpdir(), "hushbin-pictures-"));
  mkdirSync(PICTURES_DIR, { recursive: true });
  const tasks = CROWDS.map((crowd) => {
    const file = join(folder, crowd.file);
    writeFileSync(file, JSON.stringify(readTaskFromChapter(crowd)));
    return file;
  });
  const all = [...new Set(tasks), ...demoTaskFiles()];
  const collector = await startCollector({ program, data: join(folder, "data"), tasks: all });
  const site = await serve({
    directories: { "/": DEMO_DIST },
    documents: {
      "/config.json": {
        type: "application/json",
        body: JSON.stringify({ endpoint: collector.url }),
      },
    },
  });
  const browser = await launchChromium();
  try {
    const asked = new Map(CROWDS.map((crowd) => [readTaskFromChapter(crowd).id, crowd.answers]));
    for (const [id, answers] of asked) {
      await step(`report: ${id}`, () => sendCrowdReports(collector.url, id, answers));
    }
    await step("pictures: kinds of questions", () => takeKinds(browser, collector.url));
    await step("pictures: dashboard", () => takeDashboard(browser, collector.url));
    await step("pictures: demo", () => takeDemo(browser, site.url));
  } finally {
    await browser.close();
    site.close();
    await collector.stop("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(() => {
  const { values } = parseArgs({ options: { debug: { type: "boolean", default: false } } });
  return pictures(values);
});
