// Publishing what was made and checked: the same bytes, or nothing.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { capture, Failed, run, say, step } from "../run.mjs";
import { checkSeal } from "./artefacts.mjs";
import { makeCrates, packed } from "./crates.mjs";
import { tarball } from "./npm.mjs";
import { git } from "./source.mjs";
import { inOrder } from "./versions.mjs";

/** @typedef {import("./source.mjs").Source} Source */

/**
 * @param {string} version
 * @throws Failed where HEAD is not what is to be published
 */
export async function checkTag(version) {
  if ((await git("status", "--porcelain")) !== "") {
    throw new Failed("something is not committed; nothing was published");
  }
  const tags = (await git("tag", "--points-at", "HEAD")).split("\n");
  if (!tags.includes(`v${version}`)) {
    throw new Failed(`HEAD has no tag v${version}; nothing was published`);
  }
}

/**
 * A crate holds the commit that it was packed from, so that equal ones are of the same sources.
 *
 * @param {Source} source
 * @param {string} made
 */
async function checkCrates(source, made) {
  const again = mkdtempSync(join(tmpdir(), "hushbin-crates-"));
  try {
    await makeCrates(source, again, { verify: false });
    for (const crate of inOrder(source.crates)) {
      const name = packed(source, crate);
      if (!readFileSync(join(again, name)).equals(readFileSync(join(made, name)))) {
        throw new Failed(`${name} is not what HEAD gives; nothing was published`);
      }
    }
  } finally {
    rmSync(again, { recursive: true, force: true });
  }
}

/**
 * Publishes crates, each after those that it needs, then the npm package. What is there already,
 * of a run that was cut off, is left.
 *
 * @param {Source} source
 * @param {string} made the folder of the artefacts
 * @param {boolean} dryRun whether all is checked and nothing published
 */
export async function publish(source, made, dryRun) {
  const { version, folder, env } = source;
  checkSeal(made);
  await step("check: the crates are those of HEAD", () => checkCrates(source, made));
  if (dryRun) {
    return;
  }
  await checkTag(version);
  for (const { name } of inOrder(source.crates)) {
    await step(`publish: ${name} to crates.io`, async () => {
      const known = ["info", "--registry", "crates-io", `${name}@${version}`];
      if ((await capture("cargo", known)) !== undefined) {
        say("  is there");
        return;
      }
      // Verified when it was made.
      const options = ["--package", name, "--locked", "--no-verify"];
      await run("cargo", ["publish", ...options], { cwd: folder, env });
    });
  }
  await step("publish: hushbin to npm", async () => {
    if ((await capture("npm", ["view", `hushbin@${version}`, "version"])) === version) {
      say("  is there");
      return;
    }
    await run("npm", ["publish", join(made, tarball(source))]);
  });
}
