/** The page without a bundler. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { Example } from "./harness.js";
import { Person } from "./person.js";

let example: Example;
let person: Person;

beforeAll(async () => {
  example = await Example.withPackages("www/examples/page");
  await example.follow();
  person = await Person.visit(
    await example.at("127.0.0.1:8000"),
    await example.at("127.0.0.1:8080"),
  );
});
afterAll(async () => {
  await person?.leave();
  await example?.close();
});

it("counts those who agree, once, and nobody else", async () => {
  const { page } = person;
  await page.getByLabel("Theme").selectOption("Dark");
  await person.saves("Saved.");
  await person.expectAccessible();
  expect(person.sent).toEqual([]);

  await page.getByLabel("Count my settings").check();
  await person.saves("Saved, and counted.");
  await expect.poll(() => example.counted("tasks/settings")).toBe(1);
  await expect.poll(() => person.history()).toMatch(/1 received by the collector/);
  await person.expectAccessible();

  await person.saves("Saved. Nothing more is counted this month.");
  // A returning visitor has consented and been counted already. The answers are stored nowhere.
  await page.reload();
  await person.saves("Saved. Nothing more is counted this month.");
  await page.getByLabel("captions").check();
  await person.saves("Saved. Nothing more is counted this month.");
  await page.getByLabel("Count my settings").uncheck();
  await person.saves("Saved.");
  expect(person.sent).toHaveLength(1);
  expect(await example.counted("tasks/settings")).toBe(1);
});
