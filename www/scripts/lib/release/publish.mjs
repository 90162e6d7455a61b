// Publishes the files of a release that were made and checked before. It publishes exactly these
// bytes, or nothing.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captureOutput, ExplainedError, print, run, step } from "../run.mjs";
import { verifyChecksums } from "./artefacts.mjs";
import { crateFileName, makeCrates } from "./crates.mjs";
import { tarballName } from "./npm.mjs";
import { git } from "./source.mjs";
import { inPublishOrder } from "./versions.mjs";

/** @typedef {import("./source.mjs").Source} Source */

/**
 * Checks that HEAD has the version's tag and that everything is committed.
 *
 * @param {string} version
 * @throws Failed if HEAD is not the commit to publish
 */
export async function checkTag(version) {
  if ((await git("status", "--porcelain")) !== "") {
    throw new ExplainedError("something is not committed; nothing was published");
  }
  const tags = (await git("tag", "--points-at", "HEAD")).split("\n");
  if (!tags.includes(`v${version}`)) {
    throw new ExplainedError(`HEAD has no tag v${version}; nothing was published`);
  }
}

/**
 * Checks that the crates were packed from HEAD, by packing them again. A crate contains its commit,
 * so equal files come from equal sources.
 *
 * @param {Source} source
 * @param {string} made
 */
async function checkCratesMatchHead(source, made) {
  const again = mkdtempSync(join(tmpdir(), "hushbin-crates-"));
  try {
    await makeCrates(source, again, { verify: false });
    for (const crate of inPublishOrder(source.crates)) {
      const name = crateFileName(source, crate);
      if (!readFileSync(join(again, name)).equals(readFileSync(join(made, name)))) {
        throw new ExplainedError(`${name} is not what HEAD gives; nothing was published`);
      }
    }
  } finally {
    rmSync(again, { recursive: true, force: true });
  }
}

/**
 * Publishes the crates, each after its dependencies, and then the npm package. Files that an
 * interrupted run has already published are skipped.
 *
 * @param {Source} source
 * @param {string} made the folder of the artefacts
 * @param {boolean} dryRun checks everything and publishes nothing
 */
export async function publish(source, made, dryRun) {
  const { version, folder, env } = source;
  verifyChecksums(made);
  await step("check: the crates are those of HEAD", () => checkCratesMatchHead(source, made));
  if (dryRun) {
    return;
  }
  await checkTag(version);
  for (const { name } of inPublishOrder(source.crates)) {
    await step(`publish: ${name} to crates.io`, async () => {
      const known = ["info", "--registry", "crates-io", `${name}@${version}`];
      if ((await captureOutput("cargo", known)) !== undefined) {
        print("  is there");
        return;
      }
      // The crate was verified when it was packed.
      const options = ["--package", name, "--locked", "--no-verify"];
      await run("cargo", ["publish", ...options], { cwd: folder, env });
    });
  }
  await step("publish: hushbin to npm", async () => {
    if ((await captureOutput("npm", ["view", `hushbin@${version}`, "version"])) === version) {
      print("  is there");
      return;
    }
    await run("npm", ["publish", join(made, tarballName(source))]);
  });
}
