/** Tests of promises to the person, in situations that break storage, pages or built-in functions. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Receipt } from "../../../www/client/index.js";
import { answers, OFTEN, type Options, SETTINGS, World } from "./harness.js";

const often = (id: string) => ({ ...OFTEN, id });
const ONCE = { ...SETTINGS, id: "once", epsilon: 2 };
const TWENTY = Array.from({ length: 20 }, (_, index) => ({ ...ONCE, id: `twenty-${index}` }));
const SANDBOX = often("sandbox");
const LOST = often("lost");
const WORKER = often("worker");
const OLD = often("old");
const PRERENDERED = often("prerendered");
/** Flag that is asked daily, and answered from one memo a year. */
const MEMO = {
  id: "memo",
  epsilon: 1,
  questions: [
    {
      name: "beta",
      kind: "flag",
      mechanism: {
        name: "collision",
        rule: "heaviest",
        favoured: 1,
        hashing: "balanced",
        buckets: 2,
      },
    },
  ],
  budget: { days: 1, memo: { epsilon: 2, days: 365 } },
} as const satisfies Options["task"];
/** The same flag, asked with cover reports. */
const COVERED = {
  ...MEMO,
  id: "covered",
  budget: { cover: { minutes: 30 } },
} as const satisfies Options["task"];

let world: World;
/** Site whose pages may contain scripts and frames of any source. */
let site: string;

beforeAll(async () => {
  world = await World.start(
    ONCE,
    ...TWENTY,
    SANDBOX,
    LOST,
    WORKER,
    OLD,
    PRERENDERED,
    MEMO,
    COVERED,
  );
  site = await world.serveSite("default-src * data: blob: 'unsafe-inline' 'wasm-unsafe-eval'");
});
afterAll(() => world?.stop());

const options = (task: Options["task"], more: Partial<Options> = {}): Options => ({
  endpoint: world.endpoint,
  task,
  consent: true,
  maxEpsilon: 1e6,
  delayMs: 0,
  ...more,
});

/** Reports once in a page and waits until it is sent. Returns the outcome or the error's code. */
const report = (page: Page, given: Options, input: object = answers(1)) =>
  page.evaluate(
    async ({ given, input }) => {
      globalThis.client?.destroy();
      globalThis.client = hushbin.createClient(given);
      try {
        const { reason = "sent" } = await client.report(input as never);
        await client.flush();
        return reason;
      } catch (error) {
        return (error as { code: string }).code;
      }
    },
    { given, input },
  );

describe("a person's browser", () => {
  it("spends no more on twenty tasks than on one", async () => {
    const page = await world.page();
    const outcomes = [];
    for (const task of TWENTY) {
      outcomes.push(await report(page, options(task, { maxEpsilon: 2 }), { autoplay: 1 }));
    }
    expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(1);
    expect(await page.evaluate(() => client.budget())).toMatchObject({
      spentOnAll: 2,
      maxEpsilon: 2,
    });
    await page.context().close();
  });

  it("sends nothing from a sandboxed frame, which has no storage", async () => {
    const page = await world.page({ site });
    for (let view = 0; view < 10; view += 1) {
      const outcome = page.evaluate(
        ({ site, given }) =>
          new Promise((resolve) => {
            addEventListener("message", ({ data }) => resolve(data), { once: true });
            const frame = document.createElement("iframe");
            frame.setAttribute("sandbox", "allow-scripts");
            frame.srcdoc = `<script src="${site}/dist/hushbin.script.js"></script><script>
              const client = hushbin.createClient(${JSON.stringify(given)});
              client.report({ 0: 1 }).then(
                ({ reason = "sent" }) => parent.postMessage(reason, "*"),
                (error) => parent.postMessage(String(error), "*"),
              );
            </script>`;
            document.body.append(frame);
          }),
        { site: new URL(site).origin, given: options(SANDBOX) },
      );
      expect(await outcome).toBe("no-storage");
    }
    expect(world.gateway.uploads(SANDBOX.id).size).toBe(0);
    await page.context().close();
  });

  it("goes on after another tab has deleted the database, and still withdraws", async () => {
    const context = await world.context();
    const [page, other] = [await context.newPage(), await context.newPage()];
    for (const each of [page, other]) {
      await each.goto(world.site);
      await each.waitForFunction(() => "hushbin" in globalThis);
    }
    expect(await report(page, options(LOST))).toBe("sent");
    await other.evaluate(
      () =>
        new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase("hushbin");
          request.onsuccess = resolve;
          request.onerror = reject;
        }),
    );
    const states = await page.evaluate(async () => {
      const { sent }: Receipt = await client.report({ 0: 1, 1: 0.5 });
      await client.flush();
      await client.report({ 0: 1, 1: 0.25 }).then(() => client.revoke());
      return [sent, ...(await client.history()).map(({ state }) => state)];
    });
    expect(states.slice(0, 2)).toEqual([true, "acknowledged"]);
    expect(states).toHaveLength(3);
    expect(await world.reports(LOST.id)).toBe(world.gateway.uploads(LOST.id).size);
    await context.close();
  });

  it("makes all reports of a year from one noisy answer", async () => {
    const context = await world.context();
    const page = await context.newPage();
    await page.goto(world.site);
    await page.waitForFunction(() => "hushbin" in globalThis);
    const start = Date.now();
    const onDay = (day: number) => page.clock.setFixedTime(start + day * 86_400_000);
    const given = options(MEMO, { maxEpsilon: 2 });
    const spent = () => page.evaluate(() => client.budget().then(({ spent }) => spent));
    const outcomes = [];
    for (const day of [0, 1, 2, 3, 4]) {
      await onDay(day);
      outcomes.push(await report(page, given, { beta: day % 2 === 0 }));
    }
    expect(outcomes).toEqual(Array(5).fill("sent"));
    expect(await spent()).toBe(2);
    const bodies = await page.evaluate(() =>
      client.history().then((all) => all.map(({ bytes }) => String(bytes))),
    );
    expect(new Set(bodies).size).toBe(5);
    // Withdrawn consent deletes the memo, and a second one would reveal as much again.
    await page.evaluate(() => client.revoke());
    await onDay(5);
    expect(await report(page, given, { beta: true })).toBe("over-budget");
    await onDay(365);
    expect(await report(page, given, { beta: true })).toBe("sent");
    expect(await spent()).toBe(4);
    expect(await world.reports(MEMO.id)).toBe(6);
    await context.close();
  });

  it("reports at the same time with and without an answer", async () => {
    for (const [index, answered] of [true, false].entries()) {
      const context = await world.context();
      const page = await context.newPage();
      await page.clock.install();
      await page.goto(world.site);
      await page.waitForFunction(() => "hushbin" in globalThis);
      await page.evaluate(async (given) => {
        globalThis.client = hushbin.createClient(given);
        await client.ready();
      }, options(COVERED));
      const receipt = answered && (await page.evaluate(() => client.report({ beta: true })));
      expect(receipt).toEqual(answered && { sent: true, epsilon: 1, dropped: 0 });
      await page.evaluate(() => client.flush());
      await page.clock.runFor("29:00");
      expect(await page.evaluate(() => client.history())).toEqual([]);
      expect(await world.reports(COVERED.id)).toBe(index);
      await page.clock.runFor("01:01");
      // A predicate of `waitForFunction` must not be async: a promise counts as true.
      await expect
        .poll(() => page.evaluate(async () => (await client.history())[0]?.state))
        .toBe("acknowledged");
      expect(await world.reports(COVERED.id)).toBe(index + 1);
      expect(await page.evaluate(() => client.report({ beta: true }))).toMatchObject({
        reason: "over-budget",
      });
      await context.close();
    }
  });

  it("makes no report in a worker once consent was revoked in the page", async () => {
    const page = await world.page();
    expect(await report(page, options(WORKER))).toBe("sent");
    const outcomes = await page.evaluate(async (given) => {
      const worker = new Worker("/lasting-worker.js", { type: "module" });
      const ask = (what: unknown) =>
        new Promise((resolve) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage(what);
        });
      const before = await ask(given);
      await client.revoke();
      return [before, await ask(undefined), await ask(undefined)];
    }, options(WORKER));
    expect(outcomes).toEqual(["sent", "no-consent", "no-consent"]);
    expect(world.gateway.uploads(WORKER.id).size).toBe(2);
    await page.context().close();
  });

  it("sends nothing from a page that is prerendered, before it is shown", async () => {
    const page = await world.page({
      init: () => {
        Object.defineProperty(document, "prerendering", { value: true, writable: true });
      },
    });
    const reported = page.evaluate(async (given) => {
      globalThis.client = hushbin.createClient(given);
      const { reason = "sent" } = await client.report({ 0: 1 });
      await client.flush();
      return [reason, (document as unknown as { prerendering: boolean }).prerendering];
    }, options(PRERENDERED));
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(await page.evaluate(() => indexedDB.databases())).toEqual([]);
    expect(world.gateway.uploads(PRERENDERED.id).size).toBe(0);
    await page.evaluate(() => {
      Reflect.set(document, "prerendering", false);
      document.dispatchEvent(new Event("prerenderingchange"));
    });
    expect(await reported).toEqual(["sent", false]);
    await page.context().close();
  });
});

describe("built-in functions", () => {
  it.each([
    [
      "that old libraries replace",
      () => {
        // Prototype.js 1.7 and MooTools before 1.6 ignore the second argument.
        Array.from = ((items: Iterable<unknown>) => [...items]) as typeof Array.from;
      },
    ],
    [
      "that the oldest browsers lack",
      () => {
        for (const [owner, names] of [
          [Array.prototype, ["at", "findLast", "findLastIndex", "toSorted"]],
          [Object, ["hasOwn", "groupBy"]],
          [globalThis, ["structuredClone"]],
        ] as const) {
          for (const name of names) {
            Reflect.deleteProperty(owner, name);
          }
        }
      },
    ],
  ])("%s are not needed: each report is counted once", async (what, init) => {
    const before = await world.reports(OLD.id);
    const page = await world.page({ init });
    const number = what.length;
    expect(await report(page, options(OLD), answers(number))).toBe("sent");
    const states = await page.evaluate(() =>
      client.history().then((all) => all.map(({ state }) => state)),
    );
    expect(states).toEqual(["acknowledged"]);
    await page.context().close();
    expect(await world.reports(OLD.id)).toBe(before + 1);
  });
});
