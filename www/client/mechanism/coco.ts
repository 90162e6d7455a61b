import { type MechanismCodec, subsetCodec } from "./codec.js";

/** Parameters of the mechanism CoCo, which estimates means. */
export interface CocoMechanism {
  readonly name: "coco";
  /** Which sides are favoured: one of every pair pushed to, or the strongest. */
  readonly rule: "overwrite" | "strongest";
  /** Number of favoured sides, under the rule `strongest`. */
  readonly favoured?: number;
  /**
   * How items are hashed to pairs of buckets; under the rule `strongest` perhaps balanced
   * without paddings, for which items stand that an input does not have.
   */
  readonly hashing: "balanced" | "independent" | "balanced-items";
  /** Number of buckets of each hash function, which is even. */
  readonly buckets: number;
  /** Number of hash functions; 1 where it is left out. */
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
