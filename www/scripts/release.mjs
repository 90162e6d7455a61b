// npm run release: makes and checks everything that is published, then publishes it.
//
//   node www/scripts/release.mjs [--dry-run] [--twice] [--out DIRECTORY] [--from DIRECTORY]
//
//   --dry-run   publishes nothing; without it, all tests run first
//   --twice     makes everything again in another place, from nothing, and compares the bytes
//   --out       sets the directory of the files
//   --from      publishes files that were made earlier
//
// Everything is made from a clone of HEAD, so uncommitted files cannot get in.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { BUNDLED_NPM_PACKAGES } from "./build.mjs";
import { RELEASE_BUILD_DIR, RELEASE_FILES_DIR, ROOT } from "./lib/paths.mjs";
import {
  checkOnlyReleaseFiles,
  differingFiles,
  findMachinePaths,
  measureFiles,
  writeChecksums,
} from "./lib/release/artefacts.mjs";
import {
  ARCHITECTURES,
  imageFileName,
  makeNpmPackageSbom,
  makePrograms,
} from "./lib/release/binaries.mjs";
import { makeCrates } from "./lib/release/crates.mjs";
import { makePackage, tarballName } from "./lib/release/npm.mjs";
import { checkTag, publish } from "./lib/release/publish.mjs";
import {
  clone,
  git,
  headCommit,
  installCloneTools,
  machinePaths,
  readSourceMetadata,
} from "./lib/release/source.mjs";
import { tryRelease } from "./lib/release/trial.mjs";
import { bold, ExplainedError, main, print, run, seconds, step } from "./lib/run.mjs";
import { bindingsGeneratorTool, cargoZigbuildTool, installTool, zig } from "./lib/tools.mjs";

/** @typedef {import("./lib/release/source.mjs").Source} Source */

async function installReleaseTools() {
  for (const tool of [bindingsGeneratorTool(), zig, cargoZigbuildTool]) {
    await installTool(tool);
  }
}

/** Returns the text of the release notes for the version `tag`. */
function notes({ changes }, tag) {
  return `${changes}
The script, by itself: serve it with the two files beside it in the package's \`dist\`.

\`\`\`html
${tag}\`\`\`
`;
}

/**
 * Makes all files of a release.
 *
 * @param {string} workshop the folder in which it is built
 * @param {string} out the folder for the results
 * @param {{ commit: string, dryRun: boolean, verify: boolean }} options verify: also builds the
 * crates
 * @returns {Promise<Source>}
 */
async function makeReleaseFiles(workshop, out, { commit, dryRun, verify }) {
  checkOnlyReleaseFiles(out);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const cloned = await step(`source: a clone of ${commit}`, () => clone(workshop, commit));
  const source = await step("source: versions and CHANGELOG", () =>
    readSourceMetadata(workshop, cloned, dryRun),
  );
  await installCloneTools(cloned, [...ARCHITECTURES.keys()]);
  await step("crates", () => makeCrates(source, out, { verify }));
  const tag = await step("npm package", () => makePackage(source, out));
  await makePrograms(source, out, step);
  await step("bill of materials: npm package", () =>
    makeNpmPackageSbom(source, out, BUNDLED_NPM_PACKAGES),
  );
  writeFileSync(join(out, `hushbin-${source.version}-notes.md`), notes(source, tag));
  return source;
}

/**
 * Checks the finished files of a release, before they are published.
 *
 * @param {Source} source
 * @param {string} out
 */
async function checkReleaseFiles(source, out) {
  await step("check: no file names a path of this machine", () => {
    const found = findMachinePaths(out, machinePaths());
    if (found.length > 0) {
      throw new ExplainedError(found.join("\n"));
    }
  });
  for (const architecture of ARCHITECTURES.values()) {
    await step(`check: the image for ${architecture} and the npm package, used`, async () => {
      const [image, packed] = [join(out, imageFileName(source)), join(out, tarballName(source))];
      print(`  ${await tryRelease(image, architecture, packed)}`);
    });
  }
}

/**
 * Makes all files again in another folder, without earlier results, and checks that the bytes are
 * the same.
 *
 * @param {Source} source
 * @param {string} out
 * @param {boolean} dryRun
 */
async function checkReproducible({ commit }, out, dryRun) {
  const elsewhere = join(RELEASE_BUILD_DIR, "again/and/elsewhere");
  const other = join(RELEASE_BUILD_DIR, "again/artefacts");
  rmSync(join(RELEASE_BUILD_DIR, "again"), { recursive: true, force: true });
  await makeReleaseFiles(elsewhere, other, { commit, dryRun, verify: false });
  const found = differingFiles(out, other);
  if (found.length > 0) {
    throw new ExplainedError(
      `made twice, these differ: ${found.join(", ")}; see ${out} and ${other}`,
    );
  }
  rmSync(join(RELEASE_BUILD_DIR, "again"), { recursive: true, force: true });
}

function printReleaseFiles(out) {
  for (const [name, { size, sha256 }] of measureFiles(out)) {
    print(`${sha256}  ${String(size).padStart(9)}  ${name}`);
  }
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      twice: { type: "boolean", default: false },
      out: { type: "string", default: RELEASE_FILES_DIR },
      from: { type: "string" },
    },
  });
  const dryRun = values["dry-run"];
  const begun = performance.now();
  const commit = await headCommit();
  const workshop = join(RELEASE_BUILD_DIR, "first");
  if (values.from !== undefined) {
    const cloned = await step("source: a clone of HEAD", () => clone(workshop, commit));
    await publish(
      await readSourceMetadata(workshop, cloned, dryRun),
      resolve(ROOT, values.from),
      dryRun,
    );
    return;
  }
  const out = resolve(ROOT, values.out);
  if (!dryRun) {
    // Checked first, because a release takes an hour.
    await checkTag(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);
    await run("npm", ["test"]);
  }
  if ((await git("status", "--porcelain")) !== "") {
    print("what is not committed is not in it");
  }
  await step("set-up: tools", installReleaseTools);
  const source = await makeReleaseFiles(workshop, out, { commit, dryRun, verify: true });
  await checkReleaseFiles(source, out);
  if (values.twice) {
    await step("check: made twice, the same bytes", () => checkReproducible(source, out, dryRun));
  }
  writeChecksums(out);
  printReleaseFiles(out);
  print(bold(`\n${out}: made and checked in ${seconds(performance.now() - begun)}`));
  if (!dryRun) {
    await publish(source, out, dryRun);
  }
});
