import { describe, expect, it, vi } from "vitest";
import { answers, clientOf, FakeCollector, OFTEN, RATINGS } from "./harness.js";

describe("watching a client", () => {
  it("tells of consent, of the task, of reports and of what becomes of them", async () => {
    const client = clientOf(new FakeCollector(), { consent: false });
    let told = () => {};
    const next = () =>
      new Promise<void>((resolve) => {
        told = resolve;
      });
    const stop = client.watch(() => told());
    const consent = next();
    client.grant();
    await consent;
    expect(client.consent).toBe("granted");
    await client.ready();
    const made = next();
    await client.report(answers(1));
    await made;
    expect(await client.history()).toMatchObject([{ state: "waiting" }]);
    const settled = next();
    await client.flush();
    await settled;
    expect(await client.history()).toMatchObject([{ state: "acknowledged" }]);
    const revoked = next();
    await client.revoke();
    await revoked;
    expect(client.consent).toBe("pending");
    stop();
    const silent = vi.fn();
    told = silent;
    client.grant();
    await client.ready();
    expect(silent).not.toHaveBeenCalled();
  });

  it("tells of the task once the collector has described it", async () => {
    const inline = clientOf(new FakeCollector(), { task: RATINGS });
    const url = "https://collector.example/tasks/ratings";
    expect(inline.about).toEqual({ url, task: RATINGS, dryRun: false, storage: "memory" });
    const { fingerprint } = await inline.ready();
    const described = Response.json({ task: RATINGS, fingerprint });
    const client = clientOf(new FakeCollector(described), { task: "ratings" });
    expect(client.about).toEqual({ url, task: undefined, dryRun: false, storage: "memory" });
    await new Promise<void>((resolve) => {
      client.watch(() => client.about.task && resolve());
    });
    expect(client.about.task).toEqual(RATINGS);
  });
});

describe("debugging", () => {
  /** Records the console: lines of groups, with the contents of each. */
  function listen(): unknown[][] {
    const shown: unknown[][] = [];
    vi.spyOn(console, "groupCollapsed").mockImplementation((line) => void shown.push([line]));
    vi.spyOn(console, "log").mockImplementation((what) => void shown.at(-1)?.push(what));
    vi.spyOn(console, "groupEnd").mockImplementation(() => void shown.at(-1)?.push("end"));
    return shown;
  }

  it("shows answers as they were given, what they came to, and the bytes", async () => {
    const shown = listen();
    const task = { ...OFTEN, budget: { reports: 2 } };
    const client = clientOf(new FakeCollector(), { debug: true, task });
    await client.ready();
    for (const number of [1, 2, 2]) {
      await client.report(answers(number));
    }
    await client.revoke();
    await client.report(answers(3));
    const digits = (await client.history()).map(({ bytes }) => Buffer.from(bytes).toString("hex"));
    const line = (spent: number, bytes = "") =>
      `hushbin often: sent, ε 2 (${spent} so far), 43 bytes ${bytes.slice(0, 8)}…`;
    expect(shown).toEqual([
      [line(2, digits[0]), answers(1), digits[0], "end"],
      [line(4, digits[1]), answers(2), digits[1], "end"],
      ["hushbin often: over-budget, ε 0 (4 so far)", answers(2), "end"],
      ["hushbin often: no-consent", answers(3), "end"],
    ]);
  });

  it("says of a dry run that it is one", async () => {
    const shown = listen();
    const answered = { 3: 1 };
    const client = clientOf(new FakeCollector(), { debug: true, dryRun: true, task: RATINGS });
    await client.ready();
    await client.report(answered);
    expect(shown[0]?.[0]).toMatch(
      /^hushbin ratings: sent \(a dry run: nothing is sent\), ε 2 \(2 so far\), 43 bytes 01[0-9a-f]{6}…$/,
    );
    expect(shown[0]?.[1]).toBe(answered);
  });

  it("counts what the collector's task does not know", async () => {
    const { fingerprint } = await clientOf(new FakeCollector(), { task: RATINGS }).ready();
    const shown = listen();
    const described = Response.json({ task: RATINGS, fingerprint });
    const client = clientOf(new FakeCollector(described), { task: "ratings", debug: true });
    await client.report({ 3: 1, added: 1 });
    expect(shown[0]?.[0]).toMatch(/, ε 2 \(2 so far\), 1 unknown left out, 43 bytes/);
  });

  it("is silent otherwise", async () => {
    const shown = listen();
    await clientOf(new FakeCollector()).report(answers(1));
    expect(shown).toEqual([]);
  });
});
