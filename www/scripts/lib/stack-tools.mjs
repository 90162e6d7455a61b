// Bundlers, runtimes and test runners, as the tests of stacks pin them: a gigabyte, so
// that only those tests install them, outside of the project.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { installedFolder, installOnce } from "./installed.mjs";
import { ROOT } from "./paths.mjs";
import { run } from "./run.mjs";

const MANIFEST = join(ROOT, "tests/js/stacks/package.json");
const LOCK = join(ROOT, "tests/js/stacks/package-lock.json");

/** Where the tools are: packages in `node_modules`. One folder for each state of the lock file. */
export const stackTools = () => installedFolder("stacks", LOCK);

export const installStackTools = () =>
  installOnce(stackTools(), async (made) => {
    copyFileSync(MANIFEST, join(made, "package.json"));
    copyFileSync(LOCK, join(made, "package-lock.json"));
    await run("npm", ["ci", "--no-fund", "--no-audit", "--ignore-scripts"], { cwd: made });
    // Bun alone is not complete without its script, which links the binary that npm installed.
    await run("node", ["install.js"], { cwd: join(made, "node_modules/bun") });
  });
