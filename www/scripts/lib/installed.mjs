// Installations outside of the project. A file pins the versions of each. If its content changes, a
// new folder is used.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TOOLS } from "./paths.mjs";
import { print } from "./run.mjs";

/**
 * Returns the path of the folder that contains an installation.
 *
 * @param {string} name
 * @param {string} pinned file that pins the versions
 */
export function installedFolder(name, pinned) {
  const hash = createHash("sha256").update(readFileSync(pinned)).digest("hex").slice(0, 16);
  return join(TOOLS, `${name}-${hash}`);
}

/**
 * Installs something into a folder, unless the folder exists.
 *
 * @param {string} folder
 * @param {(made: string) => Promise<void>} install into an empty folder
 */
export async function installOnce(folder, install) {
  if (existsSync(folder)) {
    print(`  ${folder}: up to date`);
    return;
  }
  // The folder gets its final name only when it is complete, because another process may be
  // installing the same thing.
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
