/** Environments of the package: without WebAssembly, as a classic script, in a service worker. */

import { readFileSync, writeFileSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRandomizer } from "../../../www/client/index.js";
import { createTestCollector } from "../../../www/client/testing.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { EVENTS, newContext, SETTINGS, World } from "./harness.js";

let world: World;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  world = await World.start(SETTINGS, EVENTS);
});
afterAll(() => world?.stop());
afterEach(async () => {
  for (const close of closers.splice(0)) {
    await close();
  }
});

const INTEGRITY = JSON.parse(readFileSync(join(DIST, "integrity.json"), "utf8"));
const NO_WASM = "default-src 'self'; script-src 'self' 'unsafe-inline'; connect-src *";

/** Records the files of the package that a page requests. */
function loads(page: Page): string[] {
  const loaded: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/dist/")) {
      loaded.push(pathname.slice("/dist/".length));
    }
  });
  return loaded;
}

/** Opens a page in a Chromium whose engine compiles nothing, as in Tor's safer levels. */
async function jitless(site: string): Promise<{ page: Page; loaded: string[] }> {
  const browser = await launchChromium(["--js-flags=--jitless"]);
  closers.push(() => browser.close());
  const page = await (await newContext(browser)).newPage();
  const loaded = loads(page);
  await page.goto(site);
  return { page, loaded };
}

const OPTIONS = () => ({ endpoint: world.endpoint, consent: true, maxEpsilon: 12 });

/** Reports to both tasks, the second with hash-bin. Returns the codes of failures. */
async function reportTo(page: Page): Promise<string[]> {
  await page.waitForFunction(() => "hushbin" in globalThis);
  return page.evaluate(
    async ({ options, tasks }) => {
      const codes = [];
      for (const [task, answers] of tasks) {
        const client = await hushbin.createClient({ ...options, task } as never);
        try {
          await client.report(answers as never);
          await client.flush();
          codes.push("sent");
        } catch (error) {
          codes.push(`${(error as { code: string }).code}: ${(error as Error).message}`);
        }
        await client.close();
      }
      return codes;
    },
    {
      options: OPTIONS(),
      tasks: [
        [SETTINGS, { autoplay: 1 }],
        [EVENTS, { 7: 1 }],
      ] as const,
    },
  );
}

const arrived = async () => [await world.reports(SETTINGS.id), await world.reports(EVENTS.id)];

/** Checks that both tasks got one more report. */
async function expectOneMore(before: readonly number[]) {
  expect(await arrived()).toEqual(before.map((reports) => reports + 1));
}

describe("without WebAssembly", () => {
  it("a page reports, by the core in JavaScript alone", async () => {
    const before = await arrived();
    const { page, loaded } = await jitless(world.site);
    expect(await page.evaluate(() => typeof WebAssembly)).toBe("undefined");
    expect(await reportTo(page)).toEqual(["sent", "sent"]);
    await expectOneMore(before);
    expect(loaded.sort()).toEqual(["engine.js", "fallback.js", "index.js", "slim.js"]);
  });

  it("a page whose policy forbids it reports too", async () => {
    const before = await arrived();
    const page = await world.page({ site: await world.serveSite(NO_WASM) });
    expect(await page.evaluate(() => typeof WebAssembly)).toBe("object");
    expect(await reportTo(page)).toEqual(["sent", "sent"]);
    await expectOneMore(before);
  });

  it("and without its stand-in, the error says what to allow", async () => {
    const page = await world.page({ site: await world.serveSite(NO_WASM) });
    await page.route("**/fallback.js", (route) => route.abort());
    const [first] = await reportTo(page);
    expect(first).toMatch(/^wasm: .*'wasm-unsafe-eval'/);
  });

  it("a service worker reports by what it has imported beforehand", async () => {
    const before = await world.reports(SETTINGS.id);
    const site = await serve({
      directories: { "/dist/": DIST },
      documents: {
        "/": { type: "text/html", body: "<!doctype html><title>page</title>" },
        "/worker.js": {
          type: "text/javascript",
          body: `
            import { createClient, initialize } from "/dist/slim.js";
            import { fallback } from "/dist/fallback.js";
            addEventListener("message", async ({ data, source }) => {
              await initialize(typeof WebAssembly === "object" ? "/dist/hushbin.wasm" : fallback);
              const client = await createClient(data);
              await client.report({ autoplay: 1 });
              await client.flush();
              source.postMessage(typeof WebAssembly);
            });`,
        },
      },
      policy: "default-src 'self'; connect-src *",
    });
    closers.push(site.close);
    const { page } = await jitless(site.url);
    const seen = await page.evaluate(
      async (options) => {
        const { serviceWorker } = navigator;
        const answer = new Promise((resolve) => {
          serviceWorker.onmessage = ({ data }) => resolve(data);
        });
        await serviceWorker.register("/worker.js", { type: "module" });
        const { active } = await serviceWorker.ready;
        active?.postMessage(options);
        return answer;
      },
      { ...OPTIONS(), task: SETTINGS },
    );
    expect(seen).toBe("undefined");
    expect(await world.reports(SETTINGS.id)).toBe(before + 1);
  });
});

describe("the collector of hushbin/testing", () => {
  /** Contents of a response, without the prose that the slim build shortens. */
  async function said(response: Response): Promise<unknown> {
    const type = response.headers.get("content-type");
    const {
      type: problem,
      title,
      uploads,
      accepted_reports,
      duplicate_uploads,
      task,
      fingerprint,
    } = Object(await response.json());
    const body = {
      problem,
      title,
      uploads,
      accepted_reports,
      duplicate_uploads,
      task,
      fingerprint,
    };
    return { status: response.status, type, ...body };
  }

  it("answers as a real one does", async () => {
    const test = createTestCollector({ task: SETTINGS });
    const made = async (epsilon: number) =>
      createRandomizer({ task: { ...SETTINGS, epsilon } as typeof SETTINGS });
    const own = await made(SETTINGS.epsilon);
    const upload = (count: number, by = own) => {
      const reports = Array.from({ length: count }, () => by.randomize({ autoplay: 1 }));
      return by.upload(Buffer.concat(reports), count);
    };
    const [first, second, third] = [upload(1), upload(3), upload(200)];
    const altered = Uint8Array.from(first);
    altered.set([Number(altered[33 + 1]) ^ 1], 33 + 1);
    const other = upload(1, await made(2));
    const posts: readonly Uint8Array[] = [
      first,
      first,
      Buffer.concat([first, second]),
      Buffer.concat([second, third, first, second]),
      altered,
      Buffer.concat([upload(2), altered, upload(1)]),
      other,
      Buffer.concat([upload(1), first.subarray(0, 20)]),
      Uint8Array.of(),
      Uint8Array.of(1, 2, 3),
      Buffer.concat([Uint8Array.of(2), first.subarray(1)]),
      first.subarray(0, 33),
      first.subarray(0, 40),
      upload(4096),
      Buffer.concat([upload(4096), upload(1)]),
    ];
    const path = `/tasks/${SETTINGS.id}`;
    const requests: readonly (readonly [string, RequestInit])[] = [
      [path, {}],
      ["/tasks/nothing", {}],
      ["/nowhere", {}],
      [`${path}/reports`, {}],
      ["/tasks/nothing/reports", { method: "POST", body: first as BodyInit }],
      ...posts.map(
        (body) => [`${path}/reports`, { method: "POST", body: body as BodyInit }] as const,
      ),
    ];
    const before = await world.reports(SETTINGS.id);
    for (const [index, [where, init]] of requests.entries()) {
      const answer = await said(await test.fetch(test.endpoint + where, init));
      const real = await said(await fetch(world.collector.url + where, init));
      expect(answer, `request ${index}`).toEqual(real);
    }
    expect(test.reports).toBe((await world.reports(SETTINGS.id)) - before);
    expect(test.reports).toBeGreaterThan(4000);
  });
});

describe("a classic script", () => {
  const TAG = `<script async src="/dist/hushbin.script.js" crossorigin="anonymous"
    integrity="${INTEGRITY["hushbin.script.js"]}"></script>`;

  /** Serves a page with that script, from these files of the package. */
  async function site(head: string, directory = DIST, policy?: string) {
    const body = `<!doctype html><title>page</title>${head}`;
    const served = await serve({
      directories: { "/dist/": directory },
      documents: { "/": { type: "text/html", body } },
      policy:
        policy ?? `${NO_WASM.replace("'unsafe-inline'", "'unsafe-inline' 'wasm-unsafe-eval'")}`,
    });
    closers.push(served.close);
    return served.url;
  }

  /** Returns the names of the script and of these files that it loads. */
  const files = (...names: readonly string[]) =>
    ["", ...names.map((name) => `.${name}`)].map((name) => `hushbin.script${name}.js`);

  const whenThere = (page: Page) =>
    page.waitForFunction(() => "createClient" in (globalThis.hushbin ?? {}));

  it("reports, and loads beside it what a task needs, all checked by their hashes", async () => {
    const before = await arrived();
    const page = await world.blank();
    const loaded = loads(page);
    await page.goto(await site(TAG));
    await whenThere(page);
    expect(loaded).toEqual(["hushbin.script.js"]);
    expect(await reportTo(page)).toEqual(["sent", "sent"]);
    expect(loaded).toEqual(files("engine", "collision-module", "complete"));
    await expectOneMore(before);
  });

  it("reports without WebAssembly", async () => {
    const before = await arrived();
    const { page, loaded } = await jitless(await site(TAG));
    await whenThere(page);
    expect(await reportTo(page)).toEqual(["sent", "sent"]);
    expect(loaded).toEqual(files("engine", "fallback"));
    await expectOneMore(before);
  });

  it("loads its files where a page enforces Trusted Types", async () => {
    const before = await arrived();
    const page = await world.blank();
    const policy = `${NO_WASM.replace("'unsafe-inline'", "'unsafe-inline' 'wasm-unsafe-eval'")}; require-trusted-types-for 'script'; trusted-types hushbin`;
    await page.goto(await site(TAG, DIST, policy));
    await whenThere(page);
    expect(await reportTo(page)).toEqual(["sent", "sent"]);
    await expectOneMore(before);
  });

  it("whose text is in the page loads its files from the folder that it names", async () => {
    const before = await arrived();
    const page = await world.blank();
    const text = readFileSync(join(DIST, "hushbin.script.js"), "utf8");
    await page.goto(await site(`<script data-folder="/dist/">${text}</script>`));
    await whenThere(page);
    expect(await reportTo(page)).toEqual(["sent", "sent"]);
    await expectOneMore(before);
  });

  it("keeps what a page asks before it is there, and runs it in order", async () => {
    const before = await world.reports(SETTINGS.id);
    const page = await world.blank();
    const errors: string[] = [];
    page.on("pageerror", ({ message }) => errors.push(message));
    const early = `<script>
      (window.hushbin ||= []).push((hushbin) => {
        window.client = hushbin.createClient(${JSON.stringify({ ...OPTIONS(), task: SETTINGS })});
      });
      hushbin.push(() => { throw new Error("of the page's own"); });
      hushbin.push(() => client.record({ autoplay: 1 }));
    </script>`;
    await page.goto(await site(early + TAG));
    await whenThere(page);
    await page.evaluate(async () => {
      await new Promise((resolve) => (hushbin as never as unknown[]).push(resolve as never));
      await client.flush();
    });
    expect(errors).toEqual(["of the page's own"]);
    expect(await world.reports(SETTINGS.id)).toBe(before + 1);
  });

  it("stays the first where it is there twice", async () => {
    const page = await world.blank();
    const url = await site(TAG);
    await page.goto(url);
    await whenThere(page);
    const same = await page.evaluate(async () => {
      const { hushbin } = globalThis;
      const script = document.createElement("script");
      script.src = "/dist/hushbin.script.js";
      await new Promise((resolve) => {
        script.onload = resolve;
        document.head.append(script);
      });
      return hushbin === globalThis.hushbin;
    });
    expect(same).toBe(true);
  });

  describe("that was altered", () => {
    let altered: string;

    beforeAll(async () => {
      altered = await mkdtemp(join(tmpdir(), "hushbin-altered-"));
      await cp(DIST, altered, { recursive: true });
      for (const name of Object.keys(INTEGRITY)) {
        writeFileSync(join(altered, name), `${readFileSync(join(DIST, name), "utf8")}\n`);
      }
    });
    afterAll(() => rm(altered, { recursive: true, force: true }));

    it("is refused", async () => {
      const page = await world.blank();
      const refused = page.waitForEvent("console", (message) => /integrity/.test(message.text()));
      await page.goto(await site(TAG, `${altered}/`));
      await refused;
      expect(await page.evaluate(() => "hushbin" in globalThis)).toBe(false);
    });

    it("is refused beside an unaltered one", async () => {
      for (const name of files("engine", "collision-module")) {
        writeFileSync(join(altered, name), readFileSync(join(DIST, name)));
      }
      const page = await world.blank();
      await page.goto(await site(TAG, `${altered}/`));
      await whenThere(page);
      const [choices, events] = await reportTo(page);
      expect(choices).toBe("sent");
      expect(events).toMatch(/^wasm: .*complete\.js could not be loaded/);
    });
  });
});
