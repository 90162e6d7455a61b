/** Tests of the collector in memory, with the client that pages use. */

import { afterEach, expect, it, vi } from "vitest";
import { type Client, type ClientOptions, createClient, createRandomizer } from "../index.js";
import { createTestCollector, type TestCollector } from "../testing.js";
import { MEMO, SETTINGS } from "./harness.js";

const OFTEN = { ...SETTINGS, budget: { reports: 100 } } as const;

const clients: Client[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) {
    client.destroy();
  }
});

function clientOf(
  { endpoint, fetch }: TestCollector,
  options: Partial<ClientOptions> = {},
): Client<typeof OFTEN> {
  const client = createClient({
    ...{
      endpoint,
      fetch,
      consent: true,
      maxEpsilon: 1000,
      storage: "memory",
      onError: () => {},
      task: OFTEN,
    },
    ...(options as object),
  });
  clients.push(client as never);
  return client as never;
}

it("counts what a client reports", async () => {
  const collector = createTestCollector({ task: OFTEN });
  const client = clientOf(collector);
  await client.report({ autoplay: 1 });
  expect([collector.reports, collector.requests]).toEqual([0, []]);
  await client.flush();
  expect(collector.reports).toBe(1);
  await client.report({ autoplay: -1 });
  await client.report({ captions: 1 });
  await client.flush();
  expect(collector.uploads.map(({ reports }) => reports)).toEqual([1, 1, 1]);
  expect(new Set(collector.requests)).toEqual(new Set(["POST /tasks/settings/reports"]));
});

it("describes its task", async () => {
  const collector = createTestCollector({ task: SETTINGS });
  const client = clientOf(collector, { task: SETTINGS.id });
  const { task, fingerprint } = await client.ready();
  expect(task).toEqual(SETTINGS);
  expect(fingerprint).toBe((await createRandomizer({ task: SETTINGS })).fingerprint);
  expect(collector.requests).toEqual(["GET /tasks/settings"]);
});

it("counts once what was sent again, since its answer was lost", async () => {
  const collector = createTestCollector({ task: OFTEN });
  const client = clientOf(collector);
  collector.fail("answer-lost");
  await client.report({ autoplay: 1 });
  // Sent again at once, as after any missing response.
  await client.flush();
  expect([collector.reports, collector.requests.length]).toEqual([1, 2]);
});

it("is down until it is up", async () => {
  const collector = createTestCollector({ task: OFTEN });
  const client = clientOf(collector);
  await client.report({ autoplay: 1 });
  collector.down();
  await expect(client.flush()).rejects.toMatchObject({ code: "network" });
  collector.up();
  await client.flush();
  expect(collector.reports).toBe(1);
});

it("lets something else answer in its place", async () => {
  const collector = createTestCollector({ task: OFTEN });
  const client = clientOf(collector);
  collector.fail(new Response("<!doctype html>", { status: 200 }), "unreachable");
  await client.report({ autoplay: 1 });
  await expect(client.flush()).rejects.toMatchObject({ code: "network", status: 200 });
  expect([collector.reports, collector.requests.length]).toEqual([0, 1]);
  await client.flush();
  expect([collector.reports, collector.requests.length]).toEqual([1, 3]);
});

it("refuses reports to another task for good", async () => {
  const collector = createTestCollector({ task: { ...OFTEN, epsilon: 1 } });
  const client = clientOf(collector);
  await client.report({ autoplay: 1 });
  await expect(client.flush()).rejects.toMatchObject({
    code: "upload-rejected",
    problem: "urn:hushbin:problem:fingerprint-mismatch",
  });
  expect(collector.reports).toBe(0);
});

it("receives a report that the client held, after its time", async () => {
  vi.useFakeTimers();
  const task = { ...MEMO, budget: { cover: { minutes: 30 } } };
  const collector = createTestCollector({ task });
  const client = createClient({ ...collector, task, consent: true, storage: "memory" });
  clients.push(client as never);
  expect(await client.report({ dark: true })).toMatchObject({ sent: true });
  await client.flush();
  expect(collector.reports).toBe(0);
  const { heldUntil } = await client.budget();
  await vi.advanceTimersByTimeAsync(Number(heldUntil) - Date.now());
  await client.flush();
  expect(collector.reports).toBe(1);
  vi.useRealTimers();
});
