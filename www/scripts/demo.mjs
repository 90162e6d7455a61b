// npm run demo: a page, a collector, and everything that they need.
//
//   npm run demo -- [--port PORT] [--collector-port PORT] [--data DIR]
//
// Page and collector have different ports, and so different origins, as they
// have on the web.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DEMO_DIST } from "./lib/paths.mjs";
import { bold, Failed, main, say, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/**
 * @param {string} name of the option
 * @param {string} text
 */
function portOf(name, text) {
  const port = Number(text);
  if (text.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Failed(
      `--${name} is ${JSON.stringify(text)}, expected 0 to 65535; 0 takes a free port`,
    );
  }
  return port;
}

/** Uses what the set-up installs, so it is loaded after that. */
async function demo({ port, collectorPort, data }) {
  await setup({ book: true });
  const { buildPackage } = await import("./build.mjs");
  const { buildDemo, demoTasks } = await import("./build-demo.mjs");
  const { buildBook } = await import("./build-book.mjs");
  const { buildCollector, startCollector } = await import("./lib/collector.mjs");
  const { BOOK_POLICY, serve } = await import("./lib/serve.mjs");
  await buildPackage();
  await buildDemo();
  await buildBook();
  const program = await step("build: collector", buildCollector);

  const temporary = data === undefined ? mkdtempSync(join(tmpdir(), "hushbin-demo-")) : undefined;
  const directory = temporary ?? resolve(data);
  const collector = await step("start: collector", () =>
    startCollector({
      program,
      data: directory,
      tasks: demoTasks(),
      listen: `127.0.0.1:${collectorPort}`,
      verbose: true,
    }),
  );
  const tidy = async () => {
    await collector.stop("SIGTERM");
    if (temporary !== undefined) {
      rmSync(temporary, { recursive: true, force: true });
    }
  };
  const { tasks } = await (await fetch(`${collector.url}/tasks`)).json();
  const page = await step("start: page", () =>
    serve({
      directories: { "/": DEMO_DIST },
      documents: {
        "/config.json": {
          type: "application/json",
          body: JSON.stringify({ endpoint: collector.url, tasks }),
        },
      },
      port,
      policies: { "/book/": BOOK_POLICY },
    }),
  ).catch(async (error) => {
    await tidy();
    throw error;
  });
  say("");
  say(`  page       ${bold(page.url)}`);
  say(`  planner    ${page.url}/planner.html`);
  say(`  book       ${page.url}/book/`);
  say(`  collector  ${collector.url}/tasks, its journal in ${directory}`);
  say("  Ctrl-C ends both.");

  let ending = false;
  const end = async () => {
    if (ending) {
      return;
    }
    ending = true;
    say("\nending: page, collector");
    page.close();
    await tidy();
    process.exit();
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      "collector-port": { type: "string", default: "0" },
      data: { type: "string" },
    },
  });
  await demo({
    port: portOf("port", values.port),
    collectorPort: portOf("collector-port", values["collector-port"]),
    data: values.data,
  });
});
