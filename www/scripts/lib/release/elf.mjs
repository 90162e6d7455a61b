// What an executable of Linux is for, and what it needs to be started: the part of ELF that says so.

import { Failed } from "../run.mjs";

/** By what a header says of them. */
const MACHINES = new Map([
  [62, "x86_64"],
  [183, "aarch64"],
]);
/** A kind of file: with addresses that are given when it is loaded. */
const MOVABLE = 3;
/** Kinds of segments. */
const DYNAMIC = 2;
const INTERPRETER = 3;
const NEEDED = 1n;

/**
 * @param {Buffer} bytes a 64-bit executable, little end first
 * @returns {{ machine: string, movable: boolean, interpreter: boolean, needed: number }} whether
 * it may be loaded anywhere, whether it asks for a loader, and how many libraries it names
 */
export function readElf(bytes) {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46) {
    throw new Failed("this is no executable of Linux");
  }
  if (bytes[4] !== 2 || bytes[5] !== 1) {
    throw new Failed("this is no executable of 64 bits, little end first");
  }
  const machine = MACHINES.get(bytes.readUInt16LE(18)) ?? "another machine";
  const [at, size, count] = [
    Number(bytes.readBigUInt64LE(32)),
    bytes.readUInt16LE(54),
    bytes.readUInt16LE(56),
  ];
  const segments = Array.from({ length: count }, (_, index) => {
    const start = at + index * size;
    return {
      type: bytes.readUInt32LE(start),
      offset: Number(bytes.readBigUInt64LE(start + 8)),
      length: Number(bytes.readBigUInt64LE(start + 32)),
    };
  });
  let needed = 0;
  for (const { offset, length } of segments.filter(({ type }) => type === DYNAMIC)) {
    for (let tag = offset; tag < offset + length; tag += 16) {
      needed += bytes.readBigInt64LE(tag) === NEEDED ? 1 : 0;
    }
  }
  return {
    ...{ machine, needed },
    movable: bytes.readUInt16LE(16) === MOVABLE,
    interpreter: segments.some(({ type }) => type === INTERPRETER),
  };
}

/**
 * @param {Buffer} bytes
 * @param {string} machine that it is to be for
 * @throws Failed where it needs anything but the kernel, or has its addresses from the start
 */
export function checkStatic(bytes, machine) {
  const found = readElf(bytes);
  if (found.machine !== machine) {
    throw new Failed(`the executable for ${machine} is for ${found.machine}`);
  }
  if (found.interpreter || found.needed > 0) {
    throw new Failed(`the executable for ${machine} is not static`);
  }
  if (!found.movable) {
    throw new Failed(`the executable for ${machine} is always loaded at the same place`);
  }
}
