// Archives that depend on nothing but what is in them: no clock, no owner, no order of a disk.

import { spawnSync } from "node:child_process";
import { Failed } from "../run.mjs";

/**
 * @typedef {object} Entry
 * @property {string} path a folder's ends with "/"
 * @property {Uint8Array | string} [data] of a file
 * @property {number} [mode] by default what everybody may read
 * @property {number} [owner] user and group; by default 0
 */

const BLOCK = 512;
/** How long a path may be in a header, and the folder before it. */
const NAME = 100;
const PREFIX = 155;

/** A path as two fields that are joined by "/". */
function split(path) {
  if (Buffer.byteLength(path) <= NAME) {
    return { name: path, prefix: "" };
  }
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (name !== "" && Buffer.byteLength(name) <= NAME && Buffer.byteLength(prefix) <= PREFIX) {
      return { name, prefix };
    }
  }
  throw new Failed(`${path} is too long for an archive`);
}

/** @param {Entry} entry */
function header({ path, data = "", mode, owner = 0 }, time) {
  const folder = path.endsWith("/");
  const block = Buffer.alloc(BLOCK);
  const text = (value, at) => block.write(value, at, "utf8");
  const octal = (value, at, length) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  const { name, prefix } = split(path);
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
  // Of all bytes, with spaces where the sum itself goes.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

const padding = (length) => Buffer.alloc((BLOCK - (length % BLOCK)) % BLOCK);

/**
 * An archive in the format ustar, sorted by path, so that folders come before what is in them.
 *
 * @param {readonly Entry[]} entries
 * @param {number} time of all of them, in seconds since 1970
 */
export function tar(entries, time) {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap((entry) => {
    const data = Buffer.from(entry.data ?? "");
    return [header(entry, time), data, padding(data.length)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/**
 * Compressed by GNU's program, which gives the same bytes on every machine; Node's library gives
 * others by its version and by what the processor can do.
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
    throw new Failed(`gzip failed: ${error?.message ?? status}`);
  }
  return stdout;
}
