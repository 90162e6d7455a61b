/** The Next.js app. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { Example } from "./harness.js";
import { Person } from "./person.js";

let example: Example;
let person: Person;

beforeAll(async () => {
  example = await Example.withPackages("www/examples/next");
  await example.follow();
  const site = await example.at("127.0.0.1:3000");
  person = await Person.visit(site, `${site}/telemetry/`);
});
afterAll(async () => {
  await person?.leave();
  await example?.close();
});

it("counts those who agree, once, and nobody else", async () => {
  const { page } = person;
  const sent = async (answer: RegExp) => {
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator("output").textContent()).toMatch(answer);
  };
  const says = (feature: string, name: string) =>
    page.getByRole("group", { name: feature }).getByLabel(name).check();

  await person.expectAccessible();
  await says("Search", "works");
  await sent(/not agreed/);
  expect(person.sent).toEqual([]);

  await page.getByLabel("Send my answers").check();
  await says("Search", "works");
  await says("Export", "does not");
  await sent(/^Thank you\.$/);
  await expect.poll(() => example.counted("tasks/features")).toBe(1);
  await person.expectAccessible();

  // A returning visitor has consented and reported already.
  await page.reload();
  await expect.poll(() => page.getByLabel("Send my answers").isChecked()).toBe(true);
  await says("Search", "does not");
  await sent(/this month already/);
  await page.getByLabel("Send my answers").uncheck();
  await says("Search", "does not");
  await sent(/not agreed/);
  expect(person.sent).toHaveLength(1);
  expect(await example.counted("tasks/features")).toBe(1);
});
