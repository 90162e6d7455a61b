// Makes the npm package, and the HTML element that loads its script.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkFileHashes, scriptTag } from "../integrity.mjs";
import { captureOutput, ExplainedError, run } from "../run.mjs";
import { gzip, tar } from "./tar.mjs";

/** @typedef {import("./source.mjs").Source} Source */

const SCRIPT = "hushbin.script.js";

/**
 * Returns the file name of the packed npm package.
 *
 * @param {Pick<Source, "version">} source
 */
export const tarballName = ({ version }) => `hushbin-${version}.tgz`;

/**
 * Packs the files that npm would pack. npm itself is not used, because its archive depends on the
 * version of Node.
 *
 * @param {Source} source
 * @param {string} out
 * @returns {Promise<string>} the script tag
 */
export async function makePackage({ folder, target, env, time, version }, out) {
  await run("node", ["www/scripts/build.mjs"], { cwd: folder, env });
  const made = join(target, "package");
  const dry = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const printed = await captureOutput("npm", dry, env, made);
  const [listed] = JSON.parse(printed ?? "[]");
  if (listed === undefined) {
    throw new ExplainedError("npm pack lists no files");
  }
  const read = (path) => readFileSync(join(made, path));
  const entries = listed.files.map(({ path }) => ({ path: `package/${path}`, data: read(path) }));
  for (const needed of ["LICENSE-MIT", "LICENSE-APACHE", "LICENSE-THIRD-PARTY", "CHANGELOG.md"]) {
    if (!entries.some(({ path }) => path === `package/${needed}`)) {
      throw new ExplainedError(`the npm package would be published without ${needed}`);
    }
  }
  writeFileSync(join(out, tarballName({ version })), gzip(tar(entries, time)));
  const hashes = JSON.parse(read("dist/integrity.json").toString());
  checkFileHashes(hashes, (file) => read(`dist/${file}`));
  const tag = scriptTag(SCRIPT, hashes[SCRIPT]);
  writeFileSync(join(out, `hushbin-${version}-script.html`), tag);
  return tag;
}
