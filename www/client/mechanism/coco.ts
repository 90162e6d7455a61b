import { bucketMechanismCodec, type MechanismCodec } from "./codec.js";

/** Parameters of the mechanism CoCo, which estimates means. */
export interface CocoMechanism {
  readonly name: "coco";
  /**
   * Rule that selects the favoured sides. A side is one of the two buckets of a pair. `overwrite`:
   * one side of every pair to which an entry is hashed. `strongest`: a fixed number of sides, to
   * which the entries push most strongly in total.
   */
  readonly rule: "overwrite" | "strongest";
  /** Number of favoured sides, for the rule `strongest` only. */
  readonly favoured?: number;
  /**
   * Kind of hash function that maps items to pairs of buckets. `balanced-items` needs the rule
   * `strongest`. If an input has fewer items than the sparsity, it hashes items that the input does
   * not have. The other kinds hash padding elements instead.
   */
  readonly hashing: "balanced" | "independent" | "balanced-items";
  /** Number of buckets of each hash function, an even number. */
  readonly buckets: number;
  /** Number of hash functions (default 1). */
  readonly hashes?: number;
}

/** @internal */
export const cocoCodec: MechanismCodec<CocoMechanism> = /* @__PURE__ */ bucketMechanismCodec(
  "coco",
  "overwrite",
  "strongest",
  2,
  "balanced-items",
);
