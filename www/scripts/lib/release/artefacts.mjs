// The files of a release, with a checksum of each. The checksums are written after all checks have
// passed. A folder without checksums is not published.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { ExplainedError } from "../run.mjs";

export const CHECKSUM_FILE = "SHA256SUMS";

/**
 * Returns the names of a release's files, without the file of checksums.
 *
 * @param {string} folder
 */
const names = (folder) =>
  readdirSync(folder)
    .filter((name) => name !== CHECKSUM_FILE)
    .sort();

/**
 * Checks that a folder contains only files of a release, so that it may be emptied.
 *
 * @param {string} folder folder that is about to be emptied
 * @throws Failed if it contains anything but a release
 */
export function checkOnlyReleaseFiles(folder) {
  const others = existsSync(folder) ? names(folder).filter((name) => !/^hushbin-/.test(name)) : [];
  if (others.length > 0) {
    throw new ExplainedError(`${folder} has ${others[0]}, which is no part of a release`);
  }
}

/**
 * Returns the size and the SHA-256 hash of each file of a release.
 *
 * @param {string} folder
 * @returns {Map<string, { size: number, sha256: string }>} by name
 */
export function measureFiles(folder) {
  return new Map(
    names(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return [name, { size: bytes.length, sha256 }];
    }),
  );
}

/** Returns the checksums of all files in the format of the program sha256sum. */
const checksumText = (folder) =>
  [...measureFiles(folder)].map(([name, { sha256 }]) => `${sha256}  ${name}\n`).join("");

/**
 * Writes the checksums of the files in a folder.
 *
 * @param {string} folder
 */
export const writeChecksums = (folder) =>
  writeFileSync(join(folder, CHECKSUM_FILE), checksumText(folder));

/**
 * Checks that the files in a folder have the stated checksums.
 *
 * @param {string} folder
 * @throws Failed if the files are not those that were checked
 */
export function verifyChecksums(folder) {
  const file = join(folder, CHECKSUM_FILE);
  if (!existsSync(file)) {
    throw new ExplainedError(`${folder} has no ${CHECKSUM_FILE}: not all checks have passed there`);
  }
  if (readFileSync(file, "utf8") !== checksumText(folder)) {
    throw new ExplainedError(`${folder} has other files than its ${CHECKSUM_FILE} says`);
  }
}

/**
 * Compares the files of two folders.
 *
 * @param {string} one
 * @param {string} other
 * @returns {string[]} the files that differ or exist in one folder only
 */
export function differingFiles(one, other) {
  const [first, second] = [measureFiles(one), measureFiles(other)];
  return [...new Set([...first.keys(), ...second.keys()])]
    .filter((name) => first.get(name)?.sha256 !== second.get(name)?.sha256)
    .sort();
}

const isCompressed = (name) => /\.(gz|tgz|crate)$/.test(name);

/**
 * Searches the files of a release for paths of this machine.
 *
 * @param {string} folder
 * @param {readonly string[]} paths of this machine
 * @returns {string[]} occurrences of a path in a file. Layers of images are not unpacked, because
 * archives contain the same programs
 */
export function findMachinePaths(folder, paths) {
  return names(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    const plain = isCompressed(name) ? gunzipSync(bytes) : bytes;
    return paths.filter((path) => plain.includes(path)).map((path) => `${name} names ${path}`);
  });
}
