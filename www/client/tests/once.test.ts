/** Tests of answers that are computed only if a report is allowed. */

import { beforeEach, expect, it, vi } from "vitest";
import type { Client, ClientOptions } from "../index.js";
import { answers, clientOf, FakeCollector, RATINGS, settled, stubDatabase } from "./harness.js";

beforeEach(() => {
  stubDatabase();
});

/** Makes a client for a tab of the same browser, whose task allows one report. */
const tab = (options: Partial<ClientOptions> = {}, collector = new FakeCollector()): Client =>
  clientOf(collector, { task: RATINGS, storage: "device", ...options });

it("computes answers once consent is granted, and reports them", async () => {
  const collector = new FakeCollector();
  const client = tab({ consent: false }, collector);
  const compute = vi.fn(() => answers(1));
  client.once(compute);
  await settled();
  expect(compute).not.toHaveBeenCalled();
  client.grant();
  await vi.waitFor(() => expect(client.pending).toBe(1));
  await client.revoke();
  client.grant();
  await client.flush();
  await settled();
  expect(compute).toHaveBeenCalledTimes(1);
  expect(collector.sent).toEqual([]);
});

it("waits for answers", async () => {
  const client = tab();
  client.once(async () => {
    await settled();
    return answers(1);
  });
  await vi.waitFor(() => expect(client.pending).toBe(1));
  expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
});

it.each([
  ["another tab has reported", {}],
  ["other tasks have spent all", { task: { ...RATINGS, id: "another" }, maxEpsilon: 2 }],
])("computes nothing if %s", async (_, options) => {
  expect(await tab({ maxEpsilon: 2 }).report(answers(1))).toMatchObject({ sent: true });
  const client = tab(options);
  const compute = vi.fn(() => answers(1));
  client.once(compute);
  await client.ready();
  await settled();
  expect(compute).not.toHaveBeenCalled();
});

it("computes nothing where nothing can be stored", async () => {
  vi.stubGlobal("indexedDB", undefined);
  const client = tab();
  const compute = vi.fn(() => answers(1));
  client.once(compute);
  await client.ready();
  await settled();
  expect(compute).not.toHaveBeenCalled();
});

it("spends nothing if there is no answer, or if computing it fails", async () => {
  const onError = vi.fn();
  const client = tab({ onError });
  const cause = new Error("the page's own");
  client.once(() => undefined);
  client.once(() => Promise.reject(cause));
  await vi.waitFor(() => expect(onError).toHaveBeenCalledWith(cause));
  expect(await client.budget()).toMatchObject({ used: 0, spent: 0 });
});

it("reports nothing if consent is revoked while answers are computed", async () => {
  const onError = vi.fn();
  const client = tab({ onError });
  let resolve = (_: ReturnType<typeof answers>) => {};
  const compute = vi.fn(() => new Promise<ReturnType<typeof answers>>((done) => (resolve = done)));
  client.once(compute);
  await vi.waitFor(() => expect(compute).toHaveBeenCalled());
  await client.revoke();
  resolve(answers(1));
  await settled();
  expect(await client.history()).toEqual([]);
  expect(onError).not.toHaveBeenCalled();
});

it("is an error after the client was closed", async () => {
  const client = tab();
  await client.close();
  expect(() => client.once(() => answers(1))).toThrow(expect.objectContaining({ code: "closed" }));
});
