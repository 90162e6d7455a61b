import { type MechanismCodec, subsetCodec } from "./codec.js";

/** Parameters of the mechanism CoCo, which estimates means. */
export interface CocoMechanism {
  readonly name: "coco";
  /**
   * Selection of the favoured sides. `overwrite`: one side of every pair that an entry pushes.
   * `strongest`: the strongest sides.
   */
  readonly rule: "overwrite" | "strongest";
  /** Number of favoured sides, for the rule `strongest` only. */
  readonly favoured?: number;
  /**
   * Hash of items to pairs of buckets. `balanced-items` needs the rule `strongest`. In place of
   * paddings, it hashes items that the input does not have.
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
