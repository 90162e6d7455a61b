import { type MechanismCodec, subsetCodec } from "./codec.js";

/** Parameters of the mechanism Collision. */
export interface CollisionMechanism {
  readonly name: "collision";
  /**
   * Selection of the favoured buckets. `occupied`: those that contain an element. `heaviest`: those
   * with most elements.
   */
  readonly rule: "occupied" | "heaviest";
  /** Number of favoured buckets, for the rule `heaviest` only. */
  readonly favoured?: number;
  /**
   * Hash of elements to buckets. `balanced-windows` is for one answer of a list. Each answer is
   * then in `favoured` consecutive buckets.
   */
  readonly hashing: "balanced" | "independent" | "balanced-windows";
  /** Number of buckets of each hash function. */
  readonly buckets: number;
  /** Number of hash functions (default 1). */
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
