/** Pages check the task log of a real collector, over restarts, forks and changes on the way. */

import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type * as TaskLog from "../../../www/client/task-log.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { DIST, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { SETTINGS } from "./harness.js";
import { hushbin } from "./parties.js";

const directory = mkdtempSync(join(tmpdir(), "hushbin-task-log-"));
const file = (name: string) => join(directory, name);

let browser: Browser;
let page: Page;
let site: Awaited<ReturnType<typeof serve>>;
let collector: Collector | undefined;
/** Task log that the page's own server serves in place of the collector. */
let onTheWay: object = {};

/** Writes a task file, and returns its path. */
function taskFile(name: string, id: string, epsilon: number): string {
  writeFileSync(file(name), JSON.stringify({ ...SETTINGS, id, epsilon }));
  return file(name);
}

/** Starts a collector in place of the one before. */
async function start(data: string, key: string, tasks: readonly string[]): Promise<void> {
  await collector?.stop("SIGTERM");
  collector = await startCollector({
    program: join(TARGET, "debug/hushbin"),
    data: file(data),
    tasks,
    flags: ["--signing-key", file(`${key}.pem`)],
  });
}

/** Creates a key pair for signing, and returns the public key in hexadecimal. */
function createKey(name: string): string {
  const text = hushbin("key", "create", "--for", "signing", file(`${name}.pem`));
  const { x = "" } = createPublicKey(text).export({ format: "jwk" });
  return Buffer.from(x, "base64url").toString("hex");
}

/** Checks the log in the page. Returns its head, or the code of the error. */
const check = (options: object): Promise<TaskLog.TaskLogHead | string> =>
  page.evaluate(
    async (options) => {
      const { checkTaskLog } = globalThis as unknown as typeof TaskLog;
      return checkTaskLog(options as TaskLog.TaskLogOptions).catch(
        ({ code }: TaskLog.TaskLogError) => code,
      );
    },
    { endpoint: collector?.url, task: "settings", ...options },
  );

beforeAll(async () => {
  site = await serve({
    directories: { "/dist/": DIST },
    documents: {
      "/": {
        type: "text/html",
        body: '<!doctype html><title>page</title><script type="module" src="/entry.js"></script>',
      },
      "/entry.js": {
        type: "text/javascript",
        body: 'import * as log from "/dist/task-log.js"; Object.assign(globalThis, log);',
      },
      "/task-log": { type: "application/json", body: () => JSON.stringify(onTheWay) },
    },
  });
  browser = await launchChromium();
  page = await browser.newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => "checkTaskLog" in globalThis);
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop("SIGKILL");
  site?.close();
  rmSync(directory, { recursive: true, force: true });
});

it("accepts a log that grows, and no other", async () => {
  const publicKey = createKey("own");
  const settings = taskFile("settings.json", "settings", 3);
  const second = taskFile("second.json", "second", 3);
  const fingerprint = hushbin("task", "check", settings).match(/\b[0-9a-f]{32}\b/)?.[0];
  const pinned = { fingerprint, publicKey };

  await start("one", "own", [settings]);
  const first = await check(pinned);
  expect(first).toMatchObject({ entries: 1 });
  await start("one", "own", [settings, second]);
  const grown = await check({ ...pinned, head: first });
  expect(grown).toMatchObject({ entries: 2 });
  expect(await check({ ...pinned, head: grown })).toEqual(grown);

  // A collector that signs with another key, and one that served another task first.
  await start("one", "own", [settings, second]);
  expect(await check({ ...pinned, publicKey: createKey("other") })).toBe("task-log-signature");
  await start("two", "own", [second, settings]);
  expect(await check({ ...pinned, head: first })).toBe("task-log-forked");
  await start("three", "own", [settings]);
  expect(await check({ ...pinned, head: grown })).toBe("task-log-older");

  // One person is shown a task with a larger ε.
  await start("four", "own", [taskFile("larger.json", "settings", 6)]);
  expect(await check(pinned)).toBe("task-log-unlisted");
});

it("finds each change on the way", async () => {
  const publicKey = createKey("way");
  const settings = taskFile("settings.json", "settings", 3);
  const fingerprint = hushbin("task", "check", settings).match(/\b[0-9a-f]{32}\b/)?.[0];
  await start("five", "way", [settings, taskFile("second.json", "second", 3)]);
  const served = await (await fetch(`${collector?.url}/task-log`)).json();
  const at = (log: object) => {
    onTheWay = log;
    return check({ endpoint: site.url, fingerprint, publicKey });
  };
  expect(await at(served)).toMatchObject({ entries: 2 });
  const [one, two] = served.entries;
  const changes: readonly [object, string][] = [
    [{ ...served, entries: [one] }, "task-log-chain"],
    [{ ...served, entries: [two, one] }, "task-log-chain"],
    [{ ...served, entries: [one, { ...two, time: two.time + 1 }] }, "task-log-chain"],
    [{ ...served, entries: [one], hash: one.hash }, "task-log-signature"],
    [{ ...served, signature: undefined }, "task-log-signature"],
    [{ ...served, entries: [one, { ...two, event: "kept" }] }, "task-log-malformed"],
  ];
  for (const [changed, code] of changes) {
    expect(await at(changed)).toBe(code);
  }
});
