// Installation of bundlers, runtimes and test runners, in the versions that the tests of stacks
// pin. They take a gigabyte outside of the project, so only those tests install them.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { installedFolder, installOnce } from "./installed.mjs";
import { ROOT } from "./paths.mjs";
import { run } from "./run.mjs";

const MANIFEST = join(ROOT, "tests/js/stacks/package.json");
const LOCK = join(ROOT, "tests/js/stacks/package-lock.json");

/**
 * Returns the folder that contains the tools in `node_modules`. Each state of the lock file has a
 * separate folder.
 */
export const stackToolsFolder = () => installedFolder("stacks", LOCK);

export const installBundlersAndRuntimes = () =>
  installOnce(stackToolsFolder(), async (made) => {
    copyFileSync(MANIFEST, join(made, "package.json"));
    copyFileSync(LOCK, join(made, "package-lock.json"));
    await run("npm", ["ci", "--no-fund", "--no-audit", "--ignore-scripts"], { cwd: made });
    // Only Bun needs its install script, which links the binary that npm installed.
    await run("node", ["install.js"], { cwd: join(made, "node_modules/bun") });
  });
