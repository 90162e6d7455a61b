// Makes deterministic archives, which depend only on the contents. The clock, the owner and the
// order of directories have no effect.

import { spawnSync } from "node:child_process";
import { ExplainedError } from "../run.mjs";

/**
 * @typedef {object} Entry
 * @property {string} path ends with "/" for a folder
 * @property {Uint8Array | string} [data] of a file
 * @property {number} [mode] by default readable by everyone
 * @property {number} [owner] user and group; by default 0
 */

const BLOCK_BYTES = 512;
/** Lengths in bytes of the header fields name and prefix. */
const NAME_FIELD_BYTES = 100;
const PREFIX_FIELD_BYTES = 155;

/** Splits a path into the two header fields that unpacking joins with "/". */
function split(path) {
  if (Buffer.byteLength(path) <= NAME_FIELD_BYTES) {
    return { name: path, prefix: "" };
  }
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (
      name !== "" &&
      Buffer.byteLength(name) <= NAME_FIELD_BYTES &&
      Buffer.byteLength(prefix) <= PREFIX_FIELD_BYTES
    ) {
      return { name, prefix };
    }
  }
  throw new ExplainedError(`${path} is too long for an archive`);
}

/**
 * Returns the header block of an entry.
 *
 * @param {Entry} entry
 */
function header({ path, data = "", mode, owner = 0 }, time) {
  const folder = path.endsWith("/");
  const block = Buffer.alloc(BLOCK_BYTES);
  const text = (value, at) => block.write(value, at, "utf8");
  const octal = (value, at, length) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  const { name, prefix } = split(path);
  // Offsets and lengths of the fields are those of POSIX ustar.
  text(name, 0);
  octal(mode ?? (folder ? 0o755 : 0o644), 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(folder ? 0 : Buffer.byteLength(data), 124, 12);
  octal(time, 136, 12);
  text(folder ? "5" : "0", 156);
  text("ustar\0" + "00", 257);
  octal(0, 329, 8);
  octal(0, 337, 8);
  text(prefix, 345);
  // The checksum covers all bytes of the header, with spaces in its own field.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

const padding = (length) => Buffer.alloc((BLOCK_BYTES - (length % BLOCK_BYTES)) % BLOCK_BYTES);

/**
 * Returns an archive in the format ustar. Entries are sorted by path, so folders come before the
 * files in them.
 *
 * @param {readonly Entry[]} entries
 * @param {number} time of all entries, in seconds since 1970
 */
export function tar(entries, time) {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap((entry) => {
    const data = Buffer.from(entry.data ?? "");
    return [header(entry, time), data, padding(data.length)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

/**
 * Compresses data with GNU gzip, whose output is the same on every machine. The output of Node's
 * library depends on its version and on the processor.
 *
 * @param {Uint8Array} data
 * @returns {Buffer}
 */
export function gzip(data) {
  const { status, stdout, error } = spawnSync("gzip", ["-9", "--no-name"], {
    input: data,
    maxBuffer: data.length + 2 ** 20,
  });
  if (status !== 0) {
    throw new ExplainedError(`gzip failed: ${error?.message ?? status}`);
  }
  return stdout;
}
