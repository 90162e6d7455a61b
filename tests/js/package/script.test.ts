/** The classic script in Chromium: files for sealed reports and sums, and failures. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClientOptions, ReportInput, Task } from "../../../www/client/index.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";

const NAME = "hushbin.script.js";
const HASHES = JSON.parse(readFileSync(join(DIST, "integrity.json"), "utf8"));
const PAGE = `<!doctype html><link rel="icon" href="data:," />
  <script src="/dist/${NAME}" crossorigin="anonymous" integrity="${HASHES[NAME]}"></script>`;

const SUMS = {
  id: "timings",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 1000,
  numbers: [{ name: "load", min: 0, max: 10 }],
  messages: { levels: 8, drawn: 1, trials: 1, threshold: "4611686018427387904", noise: 2 },
};
const SETTINGS = {
  id: "settings",
  items: ["dark-mode", "autoplay"],
  sparsity: 1,
  epsilon: 2,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 1, hashing: "balanced", buckets: 8 },
};

let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  site = await serve({
    directories: { "/dist/": DIST },
    documents: { "/": { type: "text/html", body: PAGE } },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  site?.close();
});

/** Opens a page, and records the files of the script that it loads. */
async function opened(): Promise<{ page: Page; loaded: () => string[] }> {
  const page = await (await browser.newContext()).newPage();
  const files: string[] = [];
  page.on("request", (request) => {
    const [, name] = /hushbin\.script\.([\w-]+)\.js$/.exec(request.url()) ?? [];
    files.push(...(name === undefined ? [] : [name]));
  });
  await page.goto(site.url);
  return { page, loaded: () => files.splice(0) };
}

/** Runs in the page: creates a client for a fresh key, and reports twice. */
async function reportTwice({ task, input, bytes }: { task: object; input: object; bytes: string }) {
  const { createClient, createRandomizer, HushbinError } = globalThis.hushbin;
  const { subtle } = crypto;
  const hex = (buffer: ArrayBuffer) =>
    Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const pair = (await subtle.generateKey("X25519", true, ["deriveBits"])) as CryptoKeyPair;
  const key = hex(await subtle.exportKey("raw", pair.publicKey));
  // The fingerprint belongs to no task if the code that computes it is missing.
  const made = await createRandomizer({ task: task as Task }).catch(() => undefined);
  const fingerprint = made?.fingerprint ?? "0".repeat(32);
  const configuration = `01${fingerprint}002000010001${key}${bytes}`;
  const digits = configuration.match(/../g) ?? [];
  const digest = await subtle.digest(
    "SHA-256",
    Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16)),
  );
  const client = createClient({
    endpoint: "/nowhere",
    task,
    ...("trust" in task && { trust: "shuffler" }),
    analyser: [hex(digest).slice(0, 32)],
    fetch: async () => Response.json({ keys: [configuration] }),
    storage: "memory",
    delayMs: 86_400_000,
    consent: true,
  } as unknown as ClientOptions<Task>);
  const outcome = () =>
    client.report(input as ReportInput).then(
      ({ reason = "sent" }) => reason,
      (error: unknown) => error instanceof HushbinError && [error.code, String(error)],
    );
  const outcomes = [await outcome(), await outcome()];
  const lengths = (await client.history()).map(({ bytes }) => bytes.length);
  client.destroy();
  return { outcomes, lengths };
}

const SEALED = { task: SETTINGS, input: { "dark-mode": 1 }, bytes: "0009" };
const SUMMED = { task: SUMS, input: { load: 5 }, bytes: "0001" };

it("loads what seals for reports that are sealed, checked by its hash", async () => {
  const { page, loaded } = await opened();
  expect(await page.evaluate(reportTwice, SEALED)).toEqual({
    outcomes: ["sent", "over-budget"],
    lengths: [33 + 1 + 52 + 9],
  });
  // The store in memory is in `extras`.
  const expected = ["collision-module", "engine", "extras", "sealing", "shuffled"];
  expect(loaded().sort()).toEqual(expected);
  expect(Object.keys(HASHES)).toContain("hushbin.script.shuffled.js");
  await page.context().close();
});

it("loads the code of sums for a task of sums", async () => {
  const { page, loaded } = await opened();
  expect(await page.evaluate(reportTwice, SUMMED)).toEqual({
    outcomes: ["sent", "over-budget"],
    lengths: [33 + 1 + 10 * 53],
  });
  expect(loaded().sort()).toEqual(["engine", "extras", "sealing", "shuffled", "sums"]);
  await page.context().close();
});

it("loads each file once, whatever asks for it at the same time", async () => {
  const { page, loaded } = await opened();
  const [lengths, scripts] = await page.evaluate(async (task) => {
    const { createRandomizer } = globalThis.hushbin;
    const made = () => createRandomizer({ task: task as unknown as Task });
    const all = await Promise.all([made(), made(), made()]);
    const lengths = all.map((each) => each.randomize({ load: 5 } as never).length);
    return [lengths, document.scripts.length] as const;
  }, SUMS);
  expect(lengths).toEqual([10, 10, 10]);
  expect(loaded()).toEqual(["engine", "shuffled", "sums"]);
  // The page's own script is the fourth. A browser may use one request for two loads.
  expect(scripts).toBe(4);
  await page.context().close();
});

it.each([
  ["engine", SEALED, "wasm"],
  ["shuffled", SEALED, "sealing"],
  ["sealing", SEALED, "sealing"],
  ["sums", SUMMED, "wasm"],
] as const)("reports nothing by %s of other bytes, and tries again", async (name, given, code) => {
  const { page } = await opened();
  const url = `**/hushbin.script.${name}.js`;
  await page.route(url, (route) =>
    route.fulfill({ body: "void 0;", contentType: "text/javascript" }),
  );
  const refused = await page.evaluate(reportTwice, given);
  const failure = [code, expect.stringContaining("could not be loaded")];
  expect(refused).toEqual({ outcomes: [failure, failure], lengths: [] });
  await page.unroute(url);
  expect(await page.evaluate(reportTwice, given)).toMatchObject({
    outcomes: ["sent", "over-budget"],
  });
  await page.context().close();
});
