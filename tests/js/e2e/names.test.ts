/** The dashboard in headless Chromium, with names that would change how other text is shown. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandomizer, type Task } from "../../../dist/index.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { TARGET } from "../../../www/scripts/lib/paths.mjs";

const HOSTILE = "a\u202eb";
const VISIBLE = "aU+202Eb";
const TASK = {
  id: "hostile",
  epsilon: 8,
  questions: [
    { name: HOSTILE, kind: "choice", options: [HOSTILE, "עברית", "=1+1"] },
    { name: "load\u2066", kind: "number", min: 0, max: 10, unit: `u${HOSTILE}` },
    {
      name: "cross\u2067",
      kind: "cross",
      of: [
        { name: HOSTILE, kind: "choice", options: [HOSTILE, "other"] },
        { name: "time", kind: "number", min: 0, max: 9, unit: HOSTILE },
      ],
    },
  ],
};
const ANSWERS = {
  [HOSTILE]: HOSTILE,
  "load\u2066": 3,
  "cross\u2067": { [HOSTILE]: HOSTILE, time: 4 },
};

const directory = mkdtempSync(join(tmpdir(), "hushbin-names-"));
let collector: Collector;
let browser: Browser;

beforeAll(async () => {
  const file = join(directory, "hostile.json");
  writeFileSync(file, JSON.stringify(TASK));
  collector = await startCollector({
    program: join(TARGET, "debug/hushbin"),
    data: join(directory, "data"),
    tasks: [file],
    flags: ["--development", "--log", "error"],
  });
  const { task } = (await (await fetch(`${collector.url}/tasks/hostile`)).json()) as { task: Task };
  const randomizer = await createRandomizer({ task });
  const reports = Array.from({ length: 3000 }, () => randomizer.randomize(ANSWERS as never));
  const bytes = new Uint8Array(await new Blob(reports as BlobPart[]).arrayBuffer());
  const body = randomizer.upload(bytes, reports.length) as BodyInit;
  const sent = await fetch(`${collector.url}/tasks/hostile/reports`, { method: "POST", body });
  expect(sent.status).toBe(201);
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

it.each(TASK.questions.map(({ name }) => name))("shows controls of names: %j", async (name) => {
  const page = await browser.newPage();
  await page.goto(`${collector.url}/dashboard/#task=hostile&question=${encodeURIComponent(name)}`);
  await page.waitForFunction(
    () =>
      document.querySelector("#uploads .body p") !== null &&
      document.querySelector("[aria-busy=true]") === null,
  );
  const shown = await page.evaluate(() => {
    const texts = [...document.querySelectorAll("*")].flatMap((own) => [
      own.getAttribute("aria-label") ?? "",
      own.getAttribute("title") ?? "",
    ]);
    return [document.title, document.body.textContent ?? "", ...texts].join("\n");
  });
  expect(shown).toContain(VISIBLE);
  expect(shown).not.toMatch(/[\u202a-\u202e\u2066\u2067]/);
  await page.close();
});
