// Packs the project's crates in the form that registries accept.

import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ExplainedError, run } from "../run.mjs";
import { licenceTextsIn } from "./licences.mjs";
import { inPublishOrder } from "./versions.mjs";

/** @typedef {import("./source.mjs").Source} Source */

/**
 * Returns the file name of a packed crate.
 *
 * @param {Source} source
 */
export const crateFileName = ({ version }, { name }) => `${name}-${version}.crate`;

/**
 * Packs all crates that are published.
 *
 * @param {Source} source
 * @param {string} out
 * @param {{ verify: boolean }} options verify: builds each crate, using only its packed files and
 * those of the crates before it
 */
export async function makeCrates(source, out, { verify }) {
  const crates = inPublishOrder(source.crates);
  for (const { name, manifest_path: manifest } of crates) {
    if (licenceTextsIn(dirname(manifest)).length === 0) {
      throw new ExplainedError(`${name} would be published without its licences`);
    }
  }
  const own = join(source.target, "crates");
  const named = crates.flatMap(({ name }) => ["--package", name]);
  const options = ["--locked", "--target-dir", own, ...named];
  const where = { cwd: source.folder, env: source.env };
  if (verify) {
    await run("cargo", ["publish", "--dry-run", ...options], where);
  }
  // `cargo package` leaves the packed files in place; `cargo publish --dry-run` does not.
  await run("cargo", ["package", "--no-verify", ...options], where);
  for (const crate of crates) {
    copyFileSync(
      join(own, "package", crateFileName(source, crate)),
      join(out, crateFileName(source, crate)),
    );
  }
}
