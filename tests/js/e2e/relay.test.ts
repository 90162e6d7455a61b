/**
 * Reports from headless Chromium through the relay of hushbin to a shuffler, which has no connection
 * to any page. Checks what the relay sees, and that reports are counted once.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { Gateway } from "./gateway.js";
import { newContext, SETTINGS } from "./harness.js";
import { hushbin, Parties } from "./parties.js";

const PEOPLE = 60;

const parties = new Parties(SETTINGS);
/** Proxy in front of the relay that records what the relay sees, and loses answers. */
const front = new Gateway();
/** Path of the relay to the shuffler. */
let path = "";
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  parties.createKey("ohttp", "sealing");
  const ohttp = ["--ohttp-key", parties.file("ohttp.pem"), "--max-reports-per-peer", "0"];
  await parties.start(PEOPLE, PEOPLE, ohttp);
  const own = new URL(await parties.startRelay());
  front.to = own.origin;
  path = own.pathname;
  site = await serve({
    directories: { "/dist/": DIST },
    documents: {
      "/": {
        type: "text/html",
        body: '<!doctype html><title>page</title><script type="module" src="/entry.js"></script>',
      },
      "/entry.js": {
        type: "text/javascript",
        body: 'import * as hushbin from "/dist/index.js"; Object.assign(globalThis, { hushbin });',
      },
    },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  site?.close();
  front.close();
  await parties.stop();
});

it("reaches whoever shuffles, who is connected to no page, through whoever cannot read it", async () => {
  const url = await front.listen();
  const page = await (await newContext(browser)).newPage();
  const asked: URL[] = [];
  page.on("request", (request) => void asked.push(new URL(request.url())));
  await page.goto(site.url);
  await page.waitForFunction(() => "hushbin" in globalThis);
  const lazy = () =>
    asked.map(({ pathname }) => pathname).filter((path) => /shuffled|obliv|seali/.test(path));
  expect(lazy()).toEqual([]);
  // The client repeats requests whose responses are lost.
  front.faults.push("lose-answer", "broken");
  const sent = await page.evaluate(
    async ({ people, ...options }) => {
      const all = Array.from({ length: people }, async (_, person) => {
        const client = globalThis.hushbin.createClient({
          ...options,
          consent: true,
          maxEpsilon: 10,
          storage: "memory",
        });
        await client.report({ "dark-mode": 1, autoplay: person % 2 ? 1 : -1 });
        for (let state = ""; state !== "acknowledged"; ) {
          await client.flush().catch(() => {});
          state = (await client.history())[0]?.state ?? "";
        }
        const [report] = await client.history();
        client.destroy();
        return Array.from(report?.bytes ?? []);
      });
      return Promise.all(all);
    },
    {
      people: PEOPLE,
      // This name has no address; the relay knows the gateway's.
      endpoint: "https://shuffler.example",
      task: SETTINGS,
      analyser: [parties.pin],
      relay: {
        url: `${url}${path}`,
        gateway: hushbin("key", "gateway", parties.file("ohttp.pub")).trim(),
      },
    },
  );
  expect(new Set(lazy())).toEqual(
    new Set(["/dist/shuffled.js", "/dist/oblivious.js", "/dist/sealing.js"]),
  );
  // Pages connect only to their own site and to the relay.
  const hosts = new Set(asked.map(({ origin }) => `${origin}`));
  expect(hosts).toEqual(new Set([new URL(site.url).origin, url]));

  const { posts } = front;
  expect(posts.length).toBeGreaterThan(2 * PEOPLE);
  for (const post of posts) {
    expect([post.path, post.contentType]).toEqual([path, "message/ohttp-req"]);
  }
  // All requests for keys have one length, and so do all with reports.
  expect(new Set(posts.map(({ body }) => body.length)).size).toBeLessThanOrEqual(2);
  const seen = Buffer.concat(posts.map(({ body }) => body));
  for (const upload of sent) {
    const bytes = Buffer.from(upload);
    expect(bytes.length).toBeGreaterThan(80);
    // The relay sees neither the upload's id nor the sealed report.
    expect(seen.includes(bytes.subarray(17, 33))).toBe(false);
    expect(seen.includes(bytes.subarray(40, 72))).toBe(false);
  }
  expect(seen.includes(sent[0] ? Buffer.from(sent[0]).subarray(1, 17) : "")).toBe(false);

  // The relay forwarded all of them but the request that the proxy refused by itself.
  const metrics = await (await fetch(`${front.to}/metrics`)).text();
  const host = path.split("/").at(-1);
  expect(metrics).toContain(
    `hushbin_requests_forwarded_total{gateway="${host}",outcome="answered"} ${posts.length - 1}\n`,
  );

  let state = "";
  while (state !== "released") {
    await pause(100);
    const { batches } = (await parties.ask("/tasks/settings/batches")) as {
      batches: { state: string; reports: number }[];
    };
    ({ state = "" } = batches.find(({ reports }) => reports === PEOPLE) ?? {});
  }
  const estimates = await parties.ask("/tasks/settings/estimates");
  expect(estimates).toMatchObject({ reports: PEOPLE });
});
