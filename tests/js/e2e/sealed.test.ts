/**
 * Reports sealed in headless Chromium, through a shuffler to an analyser. Checks the estimates,
 * what either party can read, and that no trace of the order of arrival remains.
 *
 * `HUSHBIN_SEALED_PEOPLE` sets the number of people, each with a client: about 16 ms a person on
 * two cores.
 */

import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type * as Hushbin from "../../../www/client/index.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { Gateway } from "./gateway.js";
import { type Estimates, newContext } from "./harness.js";
import { hushbin, Parties } from "./parties.js";

const PEOPLE = Number(process.env.HUSHBIN_SEALED_PEOPLE ?? 2_000);
const BATCH = PEOPLE / 4;
/** Number of people whose clients are in the page at once. */
const TOGETHER = 250;

const TASK = {
  id: "settings",
  items: ["dark-mode", "autoplay", "captions", "telemetry", "compact", "sounds"],
  sparsity: 2,
  epsilon: 3,
  value: "sign",
  people: PEOPLE,
};

/** Returns the answers of a person: the first items are liked, the last are not. */
const answersOf = (person: number) => ({
  [TASK.items[person % 3] ?? ""]: 1,
  [TASK.items[3 + (person % 3)] ?? ""]: person % 5 === 0 ? 1 : -1,
});

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

const gateway = new Gateway();
const parties = new Parties(TASK);
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  await parties.start(BATCH, PEOPLE);
  gateway.to = parties.shuffler?.url ?? "";
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
  gateway.close();
  await parties.stop();
});

/**
 * Sends everyone's report in order, each by a separate client. Returns the order in which uploads
 * arrived.
 */
async function reportAll(): Promise<void> {
  const endpoint = await gateway.listen();
  const page = await (await newContext(browser)).newPage();
  const loaded: string[] = [];
  page.on("request", (request) => void loaded.push(new URL(request.url()).pathname));
  await page.goto(site.url);
  await page.waitForFunction(() => "hushbin" in globalThis);
  const lazy = () => loaded.filter((path) => /shuffled|sealing|x25519/.test(path));
  expect(lazy()).toEqual([]);
  const { task } = (await (await fetch(`${parties.shuffler?.url}/tasks/settings`)).json()) as {
    task: Hushbin.Task;
  };
  for (let begin = 0; begin < PEOPLE; begin += TOGETHER) {
    const people = Array.from({ length: TOGETHER }, (_, index) => answersOf(begin + index));
    await page.evaluate(
      async ({ people, ...options }) => {
        await Promise.all(
          people.map(async (answers) => {
            const client = globalThis.hushbin.createClient({
              ...options,
              consent: true,
              maxEpsilon: 10,
              storage: "memory",
            });
            await client.report(answers);
            await client.flush();
            client.destroy();
          }),
        );
      },
      { people, endpoint, task, analyser: [parties.pin] },
    );
  }
  // The code for sealing loads after consent, and uses the browser's curve.
  expect(lazy()).toEqual(["/dist/shuffled.js", "/dist/sealing.js"]);
}

/** Opens the reports of uploads with the analyser's key, which no shuffler has. */
async function opened(uploads: readonly Buffer[]): Promise<string[]> {
  const kem = new DhkemX25519HkdfSha256();
  const suite = new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });
  const { keys } = (await (await fetch(`${parties.shuffler?.url}/tasks/settings/keys`)).json()) as {
    keys: string[];
  };
  const info = Buffer.concat([
    Buffer.from("hushbin sealed report\0"),
    Buffer.from(keys[0] ?? "", "hex"),
  ]);
  // RFC 8410: the key is the last 32 bytes.
  const pem = readFileSync(parties.file("sealing.pem"), "utf8").replace(/-----.*-----|\s/g, "");
  const secret = new Uint8Array(Buffer.from(pem, "base64")).slice(-32);
  const recipientKey = await kem.deserializePrivateKey(secret.buffer);
  return Promise.all(
    uploads.map(async (upload) => {
      const sealed = new Uint8Array(upload.subarray(38));
      const enc = sealed.slice(0, 32).buffer;
      const ciphertext = sealed.slice(32).buffer;
      const own = { recipientKey, enc, info: new Uint8Array(info).buffer };
      return hexOf(new Uint8Array(await suite.open(own, ciphertext)));
    }),
  );
}

/** Spearman's rank correlation between places and the order of arrival. */
function rankCorrelation(places: readonly number[]): number {
  const count = places.length;
  const squares = places.reduce((sum, place, came) => sum + (place - came) ** 2, 0);
  return 1 - (6 * squares) / (count * (count * count - 1));
}

it("are estimated by whoever cannot know who sent them, from whoever cannot read them", async () => {
  await reportAll();
  const uploads = gateway.passed
    .filter(({ path }) => path.endsWith("/reports"))
    .map(({ body }) => body);
  expect(uploads).toHaveLength(PEOPLE);
  expect(new Set(uploads.map(({ length }) => length)).size).toBe(1);

  const path = "/tasks/settings/estimates?confidence=0.999";
  let state = "";
  while (state !== "released") {
    await pause(200);
    const { batches } = (await parties.ask("/tasks/settings/batches")) as {
      batches: { state: string; reports: number }[];
    };
    ({ state = "" } = batches.find(({ reports }) => reports === PEOPLE) ?? {});
  }
  const estimates = (await parties.ask(path)) as Estimates;
  expect(estimates.reports).toBe(PEOPLE);
  TASK.items.forEach((item, index) => {
    const [low, high] = estimates.estimates[index]?.mean.simultaneous_interval ?? [1, -1];
    const people = Array.from({ length: PEOPLE }, (_, person) => answersOf(person)[item] ?? 0);
    const mean = people.reduce((sum, value) => sum + value, 0) / PEOPLE;
    expect(low, item).toBeLessThanOrEqual(mean);
    expect(high, item).toBeGreaterThanOrEqual(mean);
  });

  // The privacy statement names the shuffler and the smallest batch.
  const privacy = await parties.ask("/tasks/settings/privacy");
  expect(privacy).toMatchObject({ reports: PEOPLE, smallest_batch: BATCH });
  expect((privacy as { shuffled_by: string[] }).shuffled_by).toHaveLength(1);

  // The order in the analyser's file of reports, against the order of arrival.
  const out = parties.file("reports.csv");
  const from = ["--data", parties.file("analysed"), "--task", "settings"];
  hushbin("journal", "export", ...from, "--format", "csv", "--out", out);
  const [head = "", ...rows] = readFileSync(out, "utf8").trim().split("\n");
  const column = head.split(",").indexOf("report");
  const places = new Map(rows.map((row, place) => [row.split(",")[column], place]));
  expect(places.size).toBe(PEOPLE);
  // Padding is removed.
  const place = (report: string) => places.get(report) ?? places.get(report.replace(/(00)+$/, ""));
  const came = (await opened(uploads)).map((report) => place(report) ?? Number.NaN);
  expect(came).not.toContain(Number.NaN);
  // For random ranks the correlation has the standard deviation 1/√(n − 1). It exceeds five of them
  // with probability 6·10⁻⁷.
  expect(Math.abs(rankCorrelation(came)) * Math.sqrt(PEOPLE - 1)).toBeLessThan(5);
  expect(rankCorrelation(came.map((_, index) => index))).toBe(1);
});
