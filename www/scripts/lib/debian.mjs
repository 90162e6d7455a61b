// Debian's packages: installed where that is ours to do, asked for elsewhere.

import { existsSync } from "node:fs";
import { Failed, run, say } from "./run.mjs";

/**
 * @param {Readonly<Record<string, () => string | undefined>>} needed by the name of a package,
 * what finds what is needed of it
 */
export async function installPackages(needed) {
  const missing = Object.keys(needed).filter((name) => needed[name]?.() === undefined);
  if (missing.length === 0) {
    say(
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
  say(`  ${names}: installing with apt-get`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing]);
}
