import { type MechanismCodec, subsetCodec } from "./codec.js";

/** Parameters of the mechanism CoCo, which estimates means. */
export interface CocoMechanism {
  readonly name: "coco";
  /**
   * Rule that selects the favoured sides; a side is one of the two buckets of a pair. `overwrite`:
   * one side of every pair that an entry is hashed to. `strongest`: the `favoured` sides with the
   * strongest net push of the entries.
   */
  readonly rule: "overwrite" | "strongest";
  /** Number of favoured sides, for the rule `strongest` only. */
  readonly favoured?: number;
  /**
   * Kind of hash function that maps items to pairs of buckets. `balanced-items` needs the rule
   * `strongest`. Instead of padding elements, it hashes items that the input does not have.
   */
  readonly hashing: "balanced" | "independent" | "balanced-items";
  /** Number of buckets of each hash function, an even number. */
  readonly buckets: number;
  /** Number of hash functions (default 1). */
  readonly hashes?: number;
}

/** @internal */
export const coco: MechanismCodec<CocoMechanism> = /* @__PURE__ */ subsetCodec(
  "coco",
  "overwrite",
  "strongest",
  2,
  "balanced-items",
);
