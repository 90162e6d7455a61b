import { type MechanismCodec, subsetCodec } from "./codec.js";

/** Parameters of the mechanism Collision. */
export interface CollisionMechanism {
  readonly name: "collision";
  /** Which buckets are favoured: those that hold an element, or the heaviest. */
  readonly rule: "occupied" | "heaviest";
  /** Number of favoured buckets, under the rule `heaviest`. */
  readonly favoured?: number;
  /** How elements are hashed to buckets. */
  readonly hashing: "balanced" | "independent";
  /** Number of buckets. */
  readonly buckets: number;
}

/** @internal */
export const collision: MechanismCodec<CollisionMechanism> = subsetCodec(
  "collision",
  "occupied",
  "heaviest",
  1,
);
