/** Types of the package in the oldest TypeScript that understands them, without `skipLibCheck`. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NPM_PACKAGE_DIR } from "../../../www/scripts/lib/paths.mjs";
import { stackToolsFolder } from "../../../www/scripts/lib/stack-tools.mjs";

const TOOLS = join(stackToolsFolder(), "node_modules");

const USE = `
  import "hushbin/history";
  import { useHushbin } from "hushbin/react";
  import { followTcf } from "hushbin/consent";
  import { createTestCollector } from "hushbin/testing";
  import { type Client, createClient, createRandomizer, HushbinError, type Task } from "hushbin";

  export async function report(task: Task): Promise<unknown> {
    const client = createClient({ endpoint: "https://telemetry.example", task });
    followTcf(client);
    try {
      const { sent, reason } = await client.report({});
      const [entry] = await client.history();
      const bytes: Uint8Array | undefined = entry?.bytes;
      return [sent, reason, bytes, createTestCollector, createRandomizer];
    } catch (error) {
      if (error instanceof HushbinError && error.code === "network") {
        const wait: number | undefined = error.retryAfterMs;
        return wait;
      }
      throw error;
    }
  }

  export function Statistics({ client, agrees }: { client: Client; agrees: boolean }) {
    const consent = useHushbin(client, agrees);
    return <hushbin-history client={client} level={3} revocable title={consent} />;
  }
`;

const folder = mkdtempSync(join(tmpdir(), "hushbin-types-"));

beforeAll(() => {
  const packages = join(folder, "node_modules");
  mkdirSync(join(packages, "@types"), { recursive: true });
  cpSync(NPM_PACKAGE_DIR, join(packages, "hushbin"), { recursive: true });
  for (const name of ["@types/react", "csstype", "react"]) {
    symlinkSync(join(TOOLS, name), join(packages, name));
  }
  writeFileSync(join(folder, "use.tsx"), USE);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

it.each(["nodenext", "bundler"])("TypeScript 5.0 accepts them, with %s", (resolution) => {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    jsx: "react-jsx",
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    types: ["react"],
    module: resolution === "bundler" ? "esnext" : resolution,
    moduleResolution: resolution,
  };
  const settings = { compilerOptions, files: ["use.tsx"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  let found = "";
  try {
    const script = join(TOOLS, "typescript-5.0/bin/tsc");
    execFileSync("node", [script, "-p", folder], { encoding: "utf8" });
  } catch (error) {
    found = (error as { stdout: string }).stdout;
  }
  expect(found).toBe("");
});
