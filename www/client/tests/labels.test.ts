/** Tests of tasks with labels: what is sent where, and one budget for all labels. */

import { beforeEach, describe, expect, it, vi } from "vitest";
import { createClient, createRandomizer, OptionError, type Task } from "../index.js";
import { createTestCollector } from "../testing.js";
import {
  answers,
  clientOf,
  FakeCollector,
  OFTEN,
  readUpload,
  SETTINGS,
  storedLedgers,
  stubDatabase,
  stubPage,
} from "./harness.js";

const LABELLED = { ...OFTEN, labels: ["control", "2.0_beta"] } as const satisfies Task;

async function fingerprintOf(task: Task, label?: string): Promise<string> {
  const randomizer = await createRandomizer({ task, label });
  randomizer.free();
  return randomizer.fingerprint;
}

describe("a label", () => {
  it("is in the fingerprint, as for the task with the label in its id", async () => {
    const all = await Promise.all([
      fingerprintOf(LABELLED, "control"),
      fingerprintOf(LABELLED, "2.0_beta"),
      fingerprintOf(OFTEN),
    ]);
    expect(new Set(all).size).toBe(3);
    expect(await fingerprintOf({ ...OFTEN, id: "often:control" })).toBe(all[0]);
  });

  it.each(["Control", "", "control ", undefined, null, 7])("is not %j", async (label) => {
    const options = {
      endpoint: "https://collector.example",
      task: LABELLED as Task,
      label: label as string,
    };
    expect(() => createClient(options)).toThrow(OptionError);
    expect(() => createClient(options)).toThrow("expected control, 2.0_beta");
    await expect(createRandomizer(options)).rejects.toThrow(OptionError);
  });

  it("is not for a task without labels", () => {
    const options = { endpoint: "https://collector.example", task: OFTEN, label: "control" };
    expect(() => createClient(options)).toThrow("label is control, expected none");
  });

  it.each(["a b", "a:b", "-a", "a".repeat(33)])("of a task by id is not %j", (label) => {
    expect(() =>
      createClient({ endpoint: "https://collector.example", task: "often", label }),
    ).toThrow(OptionError);
  });

  it.each(["Often", "", "a b", "often:", "often:b:c", undefined, 7])(
    "is in an id, and %j is none",
    async (id) => {
      const task = { ...OFTEN, id: id as string };
      await expect(createRandomizer({ task })).rejects.toMatchObject({ code: "invalid-task" });
    },
  );

  it("is checked by the compiler", () => {
    const options = { endpoint: "https://collector.example", task: LABELLED };
    // @ts-expect-error A task with labels needs one.
    expect(() => createClient(options)).toThrow(OptionError);
    // @ts-expect-error The label must be one of the task's.
    expect(() => createClient({ ...options, label: "other" })).toThrow(OptionError);
  });
});

describe("reports of two labels", () => {
  beforeEach(() => void stubDatabase());

  it("go to one path, in requests of one label each", async () => {
    const collector = new FakeCollector(...Array<"down">(9).fill("down"));
    const options = { task: LABELLED, storage: "device", delayMs: 1e6 } as const;
    const control = clientOf(collector, { ...options, label: "control" });
    await control.report(answers(1));
    await expect(control.flush()).rejects.toMatchObject({ code: "network" });
    await control.close().catch(() => {});
    collector.sent.length = 0;
    collector.answers.length = 0;

    const beta = clientOf(collector, { ...options, label: "2.0_beta" });
    await beta.report(answers(2));
    await beta.flush();
    expect(new Set(collector.sent.map(({ url }) => url))).toEqual(
      new Set(["https://collector.example/tasks/often/reports"]),
    );
    const uploads = collector.sent.map(({ bytes }) => readUpload(bytes).fingerprint);
    expect(uploads.slice(-2)).toEqual([
      await fingerprintOf(LABELLED, "control"),
      await fingerprintOf(LABELLED, "2.0_beta"),
    ]);
    expect((await beta.history()).map(({ state }) => state)).toEqual([
      "acknowledged",
      "acknowledged",
    ]);
  });

  it("share a budget", async () => {
    const collector = new FakeCollector();
    const task: Task = { ...SETTINGS, labels: LABELLED.labels };
    const options = { task, storage: "device" } as const;
    const first = clientOf(collector, { ...options, label: "control" });
    expect(await first.report({ "dark-mode": 1 })).toMatchObject({ sent: true });
    const second = clientOf(collector, { ...options, label: "2.0_beta" });
    expect(await second.report({ "dark-mode": 1 })).toMatchObject({ reason: "over-budget" });
    expect(await storedLedgers()).toHaveLength(1);
  });

  it("are withdrawn together", async () => {
    vi.unstubAllGlobals();
    stubPage();
    vi.stubGlobal("indexedDB", undefined);
    const options = {
      task: LABELLED,
      storage: "spend-again",
      endpoint: "https://labels.example",
      delayMs: 1e6,
    } as const;
    const waiting = clientOf(new FakeCollector(), { ...options, label: "control" });
    await waiting.report(answers(1));
    await clientOf(new FakeCollector(), { ...options, label: "2.0_beta" }).revoke();
    await vi.waitFor(() => expect(waiting.consent).toBe("pending"));
    await vi.waitFor(async () =>
      expect(await waiting.history()).toMatchObject([{ state: "withdrawn" }]),
    );
  });

  it("are not made from the described task of another label", async () => {
    const [control, beta] = await Promise.all(
      LABELLED.labels.map(async (label) => {
        const { labels: _, ...task } = { ...SETTINGS, labels: LABELLED.labels };
        const own = { ...task, id: `settings:${label}` };
        return { task: own, fingerprint: await fingerprintOf(own) };
      }),
    );
    const visit = (label: string, described: typeof control) => {
      const collector = new FakeCollector(Response.json(described));
      const { fingerprint } = described as { fingerprint: string };
      const options = { task: "settings", label, fingerprint, storage: "device" } as const;
      return clientOf(collector, options).report({ "dark-mode": 1 });
    };
    expect(await visit("control", control)).toMatchObject({ sent: true });
    // The window is full, and the remembered task has the other label.
    expect(await visit("2.0_beta", beta)).toMatchObject({ reason: "over-budget" });
  });

  it("reach a test collector under both", async () => {
    const task: Task = LABELLED;
    const collector = createTestCollector({ task });
    const { endpoint, fetch } = collector;
    const own = { endpoint, fetch, consent: true, storage: "memory", maxEpsilon: 1e6 } as const;
    for (const label of LABELLED.labels) {
      const client = createClient({ ...own, task, label });
      await client.report(answers(1));
      await client.close();
      const fingerprint = await fingerprintOf(LABELLED, label);
      const described = createClient({ ...own, task: "often", label, fingerprint });
      await described.report(answers(2));
      await described.close();
      expect(described.about.url).toBe(`${endpoint}/tasks/often:${label}`);
    }
    expect(collector.uploads.map(({ label }) => label)).toEqual([
      ...["control", "control"],
      ...["2.0_beta", "2.0_beta"],
    ]);
    const unknown = createClient({ ...own, task: "often" });
    await expect(unknown.report(answers(3))).rejects.toMatchObject({ code: "unknown-task" });
  });
});
