/** The browser extension, in a separate profile. */

import { join } from "node:path";
import type { BrowserContext, Worker } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchPersistentChromium } from "../../../www/scripts/lib/browser.mjs";
import { Example } from "./harness.js";
import { Person } from "./person.js";

declare global {
  /** Times of the service worker's requests to other origins. */
  var asked: number[];
}

let example: Example;
let browser: BrowserContext;
let worker: Worker;
let person: Person;

beforeAll(async () => {
  example = await Example.withPackages("www/examples/extension");
  await example.follow();
  browser = await launchPersistentChromium(
    join(example.folder, "profile"),
    join(example.folder, "dist"),
  );
  browser.setDefaultTimeout(300_000);
  worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent("serviceworker"));
  await worker.evaluate(() => {
    const { fetch } = globalThis;
    globalThis.asked = [];
    globalThis.fetch = (input, init) => {
      if (/^http:/.test(String(input))) globalThis.asked.push(Date.now());
      return fetch(input, init);
    };
  });
  const collector = await example.at("127.0.0.1:8080");
  person = new Person(await browser.newPage(), collector, () => browser.close());
  await person.page.goto(worker.url().replace("background.js", "options.html"));
});
afterAll(async () => {
  await person?.leave();
  await example?.close();
});

it("counts those who agree, once, and nobody else", async () => {
  const { page } = person;
  await page.getByLabel("Compact").check();
  await page.getByLabel("Notifications").check();
  await expect.poll(() => person.history()).toMatch(/not agreed/);
  await person.expectAccessible();
  expect(await example.counted("tasks/extension")).toBe(0);
  expect(person.sent).toEqual([]);

  const agreed = await page.evaluate(() => Date.now());
  await page.getByLabel("Count my options").check();
  await expect.poll(() => example.counted("tasks/extension")).toBe(1);
  await expect.poll(() => person.history()).toMatch(/1 received by the collector/);
  await person.expectAccessible();

  await page.reload();
  await page.getByLabel("Shortcuts").check();
  await expect.poll(() => person.history()).toMatch(/1 received by the collector/);
  await page.getByLabel("Count my options").uncheck();
  await expect.poll(() => person.history()).toMatch(/not agreed/);
  const asked = await worker.evaluate(() => globalThis.asked);
  // The page and the worker share one outbox, and the first that is ready sends the report.
  expect(asked.length + person.sent.length).toBe(1);
  expect(asked.filter((time) => time < agreed)).toEqual([]);
  expect(await example.counted("tasks/extension")).toBe(1);
});
