// Python's packages for the notebook among the examples, as its test pins them: half a
// gigabyte, outside of the project.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "./debian.mjs";
import { ROOT, TOOLS } from "./paths.mjs";
import { capture, Failed, run, say } from "./run.mjs";

const PINNED = join(ROOT, "tests/js/examples/requirements.txt");

/** Where the packages are. One folder for each state of the list. */
export function notebookTools() {
  const hash = createHash("sha256").update(readFileSync(PINNED)).digest("hex").slice(0, 16);
  return join(TOOLS, `notebook-${hash}`);
}

export async function installNotebookTools() {
  const folder = notebookTools();
  if (existsSync(folder)) {
    say(`  ${folder}: up to date`);
    return;
  }
  const pip = await capture("python3", ["-m", "pip", "--version"]);
  await installPackages({ "python3-pip": () => pip });
  // Under its name when it is complete, whoever else installs the same meanwhile.
  mkdirSync(TOOLS, { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  const options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", made];
  try {
    await run("python3", ["-m", "pip", "install", ...options, "--requirement", PINNED]);
    if (!existsSync(folder)) {
      renameSync(made, folder);
    }
  } catch (cause) {
    const python = await capture("python3", ["--version"]);
    throw new Failed(`${PINNED} was not installed by ${python}; it takes Python 3.11 or later`, {
      cause,
    });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
