// Bundlers, runtimes and test runners, as the tests of stacks pin them: a gigabyte, so
// that only those tests install them, outside of the project.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, TOOLS } from "./paths.mjs";
import { run, say } from "./run.mjs";

const MANIFEST = join(ROOT, "tests/js/stacks/package.json");
const LOCK = join(ROOT, "tests/js/stacks/package-lock.json");

/** Where the tools are: packages in `node_modules`. One folder for each state of the lock file. */
export function stackTools() {
  const hash = createHash("sha256").update(readFileSync(LOCK)).digest("hex").slice(0, 16);
  return join(TOOLS, `stacks-${hash}`);
}

export async function installStackTools() {
  const folder = stackTools();
  // Written last.
  const complete = join(folder, "complete");
  if (existsSync(complete)) {
    say(`  ${folder}: up to date`);
    return;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(MANIFEST, join(folder, "package.json"));
  copyFileSync(LOCK, join(folder, "package-lock.json"));
  await run("npm", ["ci", "--no-fund", "--no-audit", "--ignore-scripts"], { cwd: folder });
  // Bun alone is not complete without its script, which links the binary that npm installed.
  await run("node", ["install.js"], { cwd: join(folder, "node_modules/bun") });
  writeFileSync(complete, "");
}
