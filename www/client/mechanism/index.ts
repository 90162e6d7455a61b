/** The one list of mechanisms. */

import type { CanonicalBytes } from "../canonical.js";
import { type Fields, invalid, oneOf } from "../fields.js";
import { coco } from "./coco.js";
import type { MechanismCodec } from "./codec.js";
import { collision } from "./collision.js";
import { hashBin } from "./hash-bin.js";

const MECHANISMS = {
  collision,
  coco,
  "hash-bin": hashBin,
} as const;

type Name = keyof typeof MECHANISMS;

/** Parameters of the mechanism that randomises. */
export type Mechanism = {
  [N in Name]: ReturnType<(typeof MECHANISMS)[N]["parse"]>;
}[Name];

const NAMES = Object.keys(MECHANISMS) as Name[];

/** @throws TaskError `invalid-task` */
export function parseMechanism(value: unknown): Mechanism {
  if (typeof value !== "object" || value === null) {
    throw invalid(
      "mechanism is missing; `hushbin task check FILE --out COMPLETE` writes the task with one",
    );
  }
  const mechanism = value as Fields;
  return MECHANISMS[oneOf(mechanism, "name", NAMES)].parse(mechanism);
}

/**
 * Appends name and parameters to a task's canonical bytes.
 *
 * @throws TaskError `invalid-task` for what has no canonical bytes
 */
export function writeMechanism(mechanism: Mechanism, bytes: CanonicalBytes): void {
  const { name } = mechanism;
  bytes.text(name);
  // The codec is that of the name.
  (MECHANISMS[name] as MechanismCodec<Mechanism>).write(mechanism, bytes);
}
