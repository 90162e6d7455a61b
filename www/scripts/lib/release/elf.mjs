// Reads the architecture and the requirements of a Linux executable from the relevant parts of its
// ELF format.

import { ExplainedError } from "../run.mjs";

/** Names of architectures, by the value of the header field e_machine. */
const ARCHITECTURE_BY_MACHINE = new Map([
  [62, "x86_64"],
  [183, "aarch64"],
]);
/** File type ET_DYN, which position-independent executables have. */
const ELF_TYPE_DYN = 3;
/** Segment types PT_DYNAMIC and PT_INTERP, and the tag DT_NEEDED of a dynamic section. */
const ELF_SEGMENT_DYNAMIC = 2;
const ELF_SEGMENT_INTERPRETER = 3;
const ELF_TAG_NEEDED = 1n;

/**
 * Reads the header and the segments of an executable.
 *
 * @param {Buffer} bytes a 64-bit little-endian executable
 * @returns {{ machine: string, movable: boolean, interpreter: boolean, needed: number }} whether it
 * is position-independent, whether it needs a loader, and how many libraries it needs
 */
export function readElf(bytes) {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46) {
    throw new ExplainedError("this is no executable of Linux");
  }
  if (bytes[4] !== 2 || bytes[5] !== 1) {
    throw new ExplainedError("this is no executable of 64 bits, little end first");
  }
  // Fields of the ELF header: e_machine at 18, e_phoff at 32, e_phentsize at 54, e_phnum at 56.
  const machine = ARCHITECTURE_BY_MACHINE.get(bytes.readUInt16LE(18)) ?? "another machine";
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
  for (const { offset, length } of segments.filter(({ type }) => type === ELF_SEGMENT_DYNAMIC)) {
    for (let tag = offset; tag < offset + length; tag += 16) {
      needed += bytes.readBigInt64LE(tag) === ELF_TAG_NEEDED ? 1 : 0;
    }
  }
  return {
    ...{ machine, needed },
    movable: bytes.readUInt16LE(16) === ELF_TYPE_DYN,
    interpreter: segments.some(({ type }) => type === ELF_SEGMENT_INTERPRETER),
  };
}

/**
 * Checks that an executable is static, position-independent and of the expected architecture.
 *
 * @param {Buffer} bytes
 * @param {string} machine the expected architecture
 * @throws Failed if it needs anything but the kernel, or has fixed addresses
 */
export function checkStatic(bytes, machine) {
  const found = readElf(bytes);
  if (found.machine !== machine) {
    throw new ExplainedError(`the executable for ${machine} is for ${found.machine}`);
  }
  if (found.interpreter || found.needed > 0) {
    throw new ExplainedError(`the executable for ${machine} is not static`);
  }
  if (!found.movable) {
    throw new ExplainedError(`the executable for ${machine} is always loaded at the same place`);
  }
}
