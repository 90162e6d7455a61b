// Packages of Debian. They are installed if this process has the permission. Otherwise an error
// asks the user to install them.

import { existsSync } from "node:fs";
import { Failed, print, run } from "./run.mjs";

/**
 * Installs missing packages.
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
    throw new Failed(
      `${names}: not found. Install, on Debian or Ubuntu: sudo apt-get install ${names}`,
    );
  }
  print(`  ${names}: installing with apt-get`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing]);
}
