/**
 * Registry of all mechanisms, with functions that read and encode the parameters of any of them.
 */

import type { CanonicalBytesBuilder } from "../canonical.js";
import { invalidTaskError, oneOfReader, type UncheckedFields } from "../fields.js";
import { type CocoMechanism, coco } from "./coco.js";
import type { MechanismCodec } from "./codec.js";
import { type CollisionMechanism, collision } from "./collision.js";
import { type HashBinMechanism, hashBin } from "./hash-bin.js";
import { type PatternMechanism, pattern } from "./pattern.js";
import { type WindowMechanism, window } from "./window.js";

/** Parameters of a mechanism of any kind. */
export type Mechanism =
  | CollisionMechanism
  | CocoMechanism
  | HashBinMechanism
  | WindowMechanism
  | PatternMechanism;

type MechanismName = Mechanism["name"];

const MECHANISMS: {
  readonly [N in MechanismName]: MechanismCodec<Extract<Mechanism, { readonly name: N }>>;
} = {
  collision,
  coco,
  "hash-bin": hashBin,
  window,
  pattern,
};

const NAMES = /* @__PURE__ */ Object.keys(MECHANISMS) as MechanismName[];

/**
 * Reads a mechanism from a task file.
 *
 * @throws TaskError `invalid-task`
 * @internal
 */
export function parseMechanism(value: unknown): Mechanism {
  if (typeof value !== "object" || value === null) {
    throw invalidTaskError(
      "mechanism is missing; `hushbin task check FILE --out COMPLETE` adds it",
    );
  }
  const mechanism = value as UncheckedFields;
  return MECHANISMS[oneOfReader(NAMES)(mechanism, "name")].parse(mechanism);
}

/**
 * Appends a mechanism's name and parameters to a task's canonical bytes.
 *
 * @throws TaskError `invalid-task` for parameters without canonical bytes
 * @internal
 */
export function writeMechanism(mechanism: Mechanism, bytes: CanonicalBytesBuilder): void {
  const { name } = mechanism;
  bytes.text(name);
  // The codec was looked up by the mechanism's name.
  (MECHANISMS[name] as MechanismCodec<Mechanism>).write(mechanism, bytes);
}
