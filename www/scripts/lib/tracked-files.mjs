// Lists the files of the project: those under version control, and new files that git does not
// ignore.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./paths.mjs";
import { captureOutput, ExplainedError } from "./run.mjs";

/**
 * Returns the files of the project whose paths match a pattern.
 *
 * @param {RegExp} pattern
 * @returns {Promise<string[]>} paths from the root, sorted
 */
export async function nonIgnoredFiles(pattern) {
  const listed = await captureOutput("git", [
    "-c",
    "safe.directory=*",
    "ls-files",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  if (listed === undefined) {
    throw new ExplainedError("git ls-files lists no files: this runs in a checkout");
  }
  return listed
    .split("\n")
    .filter((file) => pattern.test(file) && existsSync(join(ROOT, file)))
    .sort();
}
