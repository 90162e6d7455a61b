import { bucketMechanismCodec, type MechanismCodec } from "./codec.js";

/** Parameters of the mechanism Collision, which estimates frequencies. */
export interface CollisionMechanism {
  readonly name: "collision";
  /**
   * Rule that selects the favoured buckets. `occupied`: all buckets that contain an element.
   * `heaviest`: a fixed number of buckets, which contain the most elements.
   */
  readonly rule: "occupied" | "heaviest";
  /** Number of favoured buckets, for the rule `heaviest` only. */
  readonly favoured?: number;
  /**
   * Kind of hash function that maps elements to buckets. `balanced-windows` is for questions with
   * exactly one answer from a list. It maps each possible answer to `favoured` consecutive buckets.
   */
  readonly hashing: "balanced" | "independent" | "balanced-windows";
  /** Number of buckets of each hash function. */
  readonly buckets: number;
  /** Number of hash functions (default 1). */
  readonly hashes?: number;
}

/** @internal */
export const collisionCodec: MechanismCodec<CollisionMechanism> =
  /* @__PURE__ */ bucketMechanismCodec("collision", "occupied", "heaviest", 1, "balanced-windows");
