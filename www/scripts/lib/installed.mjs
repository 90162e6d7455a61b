// What is installed once, outside of the project: a folder for each state of the file that pins it.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TOOLS } from "./paths.mjs";
import { say } from "./run.mjs";

/**
 * Where it is.
 *
 * @param {string} name
 * @param {string} pinned the file that says what it is
 */
export function installedFolder(name, pinned) {
  const hash = createHash("sha256").update(readFileSync(pinned)).digest("hex").slice(0, 16);
  return join(TOOLS, `${name}-${hash}`);
}

/**
 * Installs it, unless it is there.
 *
 * @param {string} folder
 * @param {(made: string) => Promise<void>} install into a folder that is empty
 */
export async function installOnce(folder, install) {
  if (existsSync(folder)) {
    say(`  ${folder}: up to date`);
    return;
  }
  // Under its name when it is complete, whoever else installs the same meanwhile.
  mkdirSync(TOOLS, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  try {
    await install(made);
    if (!existsSync(folder)) {
      renameSync(made, folder);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
