// The files of a release, and their sums, which are written when all checks have passed: a folder
// without them is not published.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { Failed } from "../run.mjs";

export const SUMS = "SHA256SUMS";

/** @param {string} folder */
const names = (folder) =>
  readdirSync(folder)
    .filter((name) => name !== SUMS)
    .sort();

/**
 * @param {string} folder that is to be emptied
 * @throws Failed where there is anything in it but a release
 */
export function checkFolder(folder) {
  const others = existsSync(folder) ? names(folder).filter((name) => !/^hushbin-/.test(name)) : [];
  if (others.length > 0) {
    throw new Failed(`${folder} has ${others[0]}, which is no part of a release`);
  }
}

/**
 * @param {string} folder
 * @returns {Map<string, { size: number, sha256: string }>} by name
 */
export function measured(folder) {
  return new Map(
    names(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return [name, { size: bytes.length, sha256 }];
    }),
  );
}

/** As sha256sum writes and reads it. */
const sums = (folder) =>
  [...measured(folder)].map(([name, { sha256 }]) => `${sha256}  ${name}\n`).join("");

/** @param {string} folder */
export const seal = (folder) => writeFileSync(join(folder, SUMS), sums(folder));

/**
 * @param {string} folder
 * @throws Failed where the files are not those that were checked
 */
export function checkSeal(folder) {
  const file = join(folder, SUMS);
  if (!existsSync(file)) {
    throw new Failed(`${folder} has no ${SUMS}: not all checks have passed there`);
  }
  if (readFileSync(file, "utf8") !== sums(folder)) {
    throw new Failed(`${folder} has other files than its ${SUMS} says`);
  }
}

/**
 * @param {string} one
 * @param {string} other
 * @returns {string[]} the files that two folders do not have alike
 */
export function differing(one, other) {
  const [first, second] = [measured(one), measured(other)];
  return [...new Set([...first.keys(), ...second.keys()])]
    .filter((name) => first.get(name)?.sha256 !== second.get(name)?.sha256)
    .sort();
}

const isCompressed = (name) => /\.(gz|tgz|crate)$/.test(name);

/**
 * @param {string} folder
 * @param {readonly string[]} paths of this machine
 * @returns {string[]} where a file names one; layers of images hold programs that archives hold, too
 */
export function naming(folder, paths) {
  return names(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    const plain = isCompressed(name) ? gunzipSync(bytes) : bytes;
    return paths.filter((path) => plain.includes(path)).map((path) => `${name} names ${path}`);
  });
}
