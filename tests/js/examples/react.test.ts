/** The Vite and React app. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { Example } from "./harness.js";
import { Person } from "./person.js";

let example: Example;
let person: Person;

beforeAll(async () => {
  example = await Example.withPackages("www/examples/react");
  await example.follow();
  const site = await example.at("127.0.0.1:4173");
  person = await Person.visit(site, `${site}/telemetry/`);
});
afterAll(async () => {
  await person?.leave();
  await example?.close();
});

it("counts those who agree, once, and nobody else", async () => {
  const { page } = person;
  await page.getByLabel("Theme").selectOption("Dark");
  await person.expectAccessible();
  expect(person.sent).toEqual([]);
  expect(await example.counted("tasks/settings")).toBe(0);

  await page.getByLabel("Count my settings").check();
  await expect.poll(() => example.counted("tasks/settings")).toBe(1);
  await expect.poll(() => person.history()).toMatch(/1 received by the collector/);
  await person.expectAccessible();

  // A returning visitor has consented and been counted already. Later changes are not counted.
  await page.reload();
  await page.getByLabel("captions").check();
  await expect.poll(() => person.history()).toMatch(/1 received by the collector/);
  await page.getByLabel("Count my settings").uncheck();
  await expect.poll(() => person.history()).toMatch(/not agreed/);
  expect(person.sent).toHaveLength(1);
  expect(await example.counted("tasks/settings")).toBe(1);
});
