// Bundlers, runtimes and test runners, as the tests of stacks pin them: a gigabyte, so
// that only those tests install them, outside of the project.

import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
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
  if (existsSync(folder)) {
    say(`  ${folder}: up to date`);
    return;
  }
  // Under its name when it is complete, whoever else installs the same meanwhile.
  mkdirSync(TOOLS, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    copyFileSync(MANIFEST, join(made, "package.json"));
    copyFileSync(LOCK, join(made, "package-lock.json"));
    await run("npm", ["ci", "--no-fund", "--no-audit", "--ignore-scripts"], { cwd: made });
    // Bun alone is not complete without its script, which links the binary that npm installed.
    await run("node", ["install.js"], { cwd: join(made, "node_modules/bun") });
    if (!existsSync(folder)) {
      renameSync(made, folder);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
