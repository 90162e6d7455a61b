/** The service with an embedded collector, built from the packed crates. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { usePackedCrates } from "./crates.js";
import { Example } from "./harness.js";
import { Person } from "./person.js";

let example: Example;
let person: Person;
let site: string;

beforeAll(async () => {
  example = await Example.withPackages("server/examples/service");
  example.lend(usePackedCrates(example.folder));
  await example.follow();
  site = await example.at("127.0.0.1:8000");
  person = await Person.visit(site, `${site}/telemetry/`);
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
  await page.reload();
  await person.saves("Saved.");
  expect(person.sent).toHaveLength(1);
  expect(await example.counted("tasks/settings")).toBe(1);
});

it("shows the world nothing but where to report to", async () => {
  const paths = ["tasks/settings", "tasks/settings/estimates?question=theme", "dashboard/"];
  for (const path of paths) {
    const { status } = await fetch(`${site}/telemetry/${path}`);
    expect(status, path).toBe(404);
  }
  const closing = await fetch(`${site}/telemetry/tasks/settings/batches`, { method: "POST" });
  expect(closing.status).toBe(404);
});

it("ends when it is told to, behind what it has taken", async () => {
  await person.page.close();
  expect(await example.end()).toContain("all that was taken is in the journal");
});
