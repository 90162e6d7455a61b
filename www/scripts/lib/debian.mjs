// Installation of Debian packages. If this process may not install them, an error asks the user to
// do so.

import { existsSync } from "node:fs";
import { ExplainedError, print, run } from "./run.mjs";

/**
 * Installs those of the needed packages whose program is missing.
 *
 * @param {Readonly<Record<string, () => string | undefined>>} needed for each package name, a
 * function that returns the path of the package's program
 */
export async function installPackages(needed) {
  const missing = Object.keys(needed).filter((name) => needed[name]?.() === undefined);
  if (missing.length === 0) {
    print(
      Object.entries(needed)
        .map(([name, find]) => `  ${name}: ${find()}`)
        .join("\n"),
    );
    return;
  }
  const names = missing.join(" ");
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    throw new ExplainedError(
      `${names}: not found. Install, on Debian or Ubuntu: sudo apt-get install ${names}`,
    );
  }
  print(`  ${names}: installing with apt-get`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing]);
}
