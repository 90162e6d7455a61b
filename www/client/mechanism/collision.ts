import { type MechanismCodec, subsetCodec } from "./codec.js";

/** Parameters of the mechanism Collision. */
export interface CollisionMechanism {
  readonly name: "collision";
  /** Which buckets are favoured: those that hold an element, or the heaviest. */
  readonly rule: "occupied" | "heaviest";
  /** Number of favoured buckets, under the rule `heaviest`. */
  readonly favoured?: number;
  /**
   * How elements are hashed to buckets; where one answer of a list is given, perhaps to as many as
   * are favoured, one behind the other.
   */
  readonly hashing: "balanced" | "independent" | "balanced-windows";
  /** Number of buckets of each hash function. */
  readonly buckets: number;
  /** Number of hash functions; 1 where it is left out. */
  readonly hashes?: number;
}

/** @internal */
export const collision: MechanismCodec<CollisionMechanism> = /* @__PURE__ */ subsetCodec(
  "collision",
  "occupied",
  "heaviest",
  1,
  "balanced-windows",
);
