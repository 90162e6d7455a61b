/** The example for the web, bundled and used as its README says. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DIST, ROOT } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { World } from "./harness.js";

const EXAMPLE = join(ROOT, "www/examples/settings");
/** Longer than a report waits for company, however slow the machine. */
const PATIENCE = { timeout: 50_000 };
const read = (file: string) => readFileSync(join(EXAMPLE, file), "utf8");

let world: World;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(EXAMPLE, "main.ts")],
    alias: { hushbin: join(DIST, "index.js") },
    bundle: true,
    format: "esm",
    write: false,
  });
  site = await serve({
    directories: {},
    documents: {
      "/": { type: "text/html", body: read("index.html") },
      "/main.js": { type: "text/javascript", body: outputFiles[0]?.text ?? "" },
    },
  });
  world = await World.start(JSON.parse(read("settings.json")));
});
afterAll(async () => {
  site?.close();
  await world?.stop();
});

it("reports when that is allowed, and does not otherwise", async () => {
  const page = await world.page();
  await page.route("**/telemetry/**", (route) => {
    const [, path = ""] = route.request().url().split("/telemetry");
    return route.continue({ url: world.endpoint + path });
  });
  await page.goto(site.url);
  const saved = async (answer: RegExp) => {
    await page.locator("output").evaluate((output) => output.replaceChildren());
    await page.getByRole("button").click();
    await expect.poll(() => page.locator("output").textContent(), PATIENCE).toMatch(answer);
  };

  await page.getByLabel("Dark mode").check();
  await saved(/^Saved\.$/);
  expect(world.gateway.passed).toEqual([]);

  await page.getByLabel("Report").check();
  await saved(/randomised/);
  await expect.poll(() => world.reports("settings"), PATIENCE).toBe(1);

  // Whoever comes back agreed already, and has reported.
  await page.reload();
  await page.getByLabel("Dark mode").check();
  await saved(/reported already/);
  await page.getByLabel("Play").check();
  await saved(/Nothing more/);
  await page.getByLabel("Report").uncheck();
  await saved(/^Saved\.$/);
  expect(world.gateway.passed).toHaveLength(1);
});
