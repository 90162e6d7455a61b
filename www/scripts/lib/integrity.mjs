// Hashes of scripts. With such a hash in the page, browsers refuse any other script:
// https://www.w3.org/TR/SRI/

import { createHash } from "node:crypto";
import { ExplainedError } from "./run.mjs";

/**
 * Returns the value of the `integrity` attribute for a script, with which browsers refuse any other
 * file.
 *
 * @param {Uint8Array} bytes
 * @param {string} hash name of the hash algorithm
 */
export const integrity = (bytes, hash = "sha384") =>
  `${hash}-${createHash(hash).update(bytes).digest("base64")}`;

/**
 * Returns the HTML element that loads a script.
 *
 * @param {string} name the script's file
 * @param {string | undefined} hash
 */
export const scriptTag = (name, hash) =>
  `<script async src="/hushbin/${name}" crossorigin="anonymous" integrity="${hash}"></script>\n`;

/**
 * Checks that files have the stated hashes.
 *
 * @param {Readonly<Record<string, string>>} stated hashes by file
 * @param {(file: string) => Uint8Array} read
 * @throws Failed if a file has a different hash
 */
export function checkFileHashes(stated, read) {
  for (const [file, hash] of Object.entries(stated)) {
    const found = integrity(read(file));
    if (found !== hash) {
      throw new ExplainedError(`integrity.json says ${hash} of ${file}, which has ${found}`);
    }
  }
}
