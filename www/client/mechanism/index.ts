/**
 * Registry of all mechanisms, with functions that read and encode the parameters of any of them.
 */

import type { CanonicalBytesBuilder } from "../canonical.js";
import { invalidTaskError, oneOfReader, type UncheckedFields } from "../fields.js";
import { type CocoMechanism, cocoCodec } from "./coco.js";
import type { MechanismCodec } from "./codec.js";
import { type CollisionMechanism, collisionCodec } from "./collision.js";
import { type HashBinMechanism, hashBinCodec } from "./hash-bin.js";
import { type PatternMechanism, patternCodec } from "./pattern.js";
import { type WindowMechanism, windowCodec } from "./window.js";

/** Parameters of a mechanism of any kind. */
export type Mechanism =
  | CollisionMechanism
  | CocoMechanism
  | HashBinMechanism
  | WindowMechanism
  | PatternMechanism;

type MechanismName = Mechanism["name"];

const MECHANISM_CODECS: {
  readonly [N in MechanismName]: MechanismCodec<Extract<Mechanism, { readonly name: N }>>;
} = {
  collision: collisionCodec,
  coco: cocoCodec,
  "hash-bin": hashBinCodec,
  window: windowCodec,
  pattern: patternCodec,
};

const NAMES = /* @__PURE__ */ Object.keys(MECHANISM_CODECS) as MechanismName[];

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
  return MECHANISM_CODECS[oneOfReader(NAMES)(mechanism, "name")].parse(mechanism);
}

/**
 * Appends a mechanism's name and parameters to a task's canonical bytes.
 *
 * @throws TaskError `invalid-task` for parameters without canonical bytes
 * @internal
 */
export function writeMechanism(mechanism: Mechanism, bytes: CanonicalBytesBuilder): void {
  const { name } = mechanism;
  bytes.appendText(name);
  // The codec was looked up by the mechanism's name.
  (MECHANISM_CODECS[name] as MechanismCodec<Mechanism>).writeCanonicalBytes(mechanism, bytes);
}
