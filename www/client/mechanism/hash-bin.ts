import { oneOfReader, readFields, readInteger, readNumber } from "../fields.js";
import { HASHINGS, type MechanismCodec, UNENCODABLE_SENTINEL } from "./codec.js";

/**
 * Parameters of the mechanism hash-bin. It estimates means of real values. A report covers all
 * entries of an input, however many there are.
 */
export interface HashBinMechanism {
  readonly name: "hash-bin";
  /**
   * Information that ε protects. `event`: the value of any single item, but not a whole input.
   * `neighbouring`: which of two inputs a person has, if the inputs are at most `distance` apart.
   * `user`: a whole input.
   */
  readonly level: "event" | "neighbouring" | "user";
  /**
   * Maximum distance between two inputs that must be hard to distinguish, summed over items, up to
   * 2048. For level `neighbouring` only.
   */
  readonly distance?: number;
  /** Probability that the guarantee fails, 1e-15 to 0.01. For level `neighbouring` only. */
  readonly delta?: number;
  /**
   * Limit to which the sum of an input's signed values is clipped. It is a multiple of 1/`grid`, up
   * to 1024. For level `user` only. Clipping biases estimates towards 0.
   */
  readonly clip?: number;
  /**
   * Randomisation of the sum. `two-point` turns the sum into one random sign. `laplace` adds noise
   * to the sum. For level `user` only.
   */
  readonly noise?: "two-point" | "laplace";
  /** Kind of hash function that maps items to bins. */
  readonly hashing: "balanced" | "independent";
  /** Number of bins, at most 4096 and at most the number of items. 1 at level `user`. */
  readonly bins: number;
  /**
   * Number of steps per unit: values in bins are multiples of 1/`grid`. A power of two, up to
   * 65536.
   */
  readonly grid: number;
}

const LEVELS = ["event", "neighbouring", "user"] as const;
const NOISES = ["two-point", "laplace"] as const;

/** Readers of the parameters that a level requires in addition. */
const FIELD_READERS_BY_LEVEL = {
  event: {},
  neighbouring: { distance: readNumber },
  user: { clip: readNumber, noise: /* @__PURE__ */ oneOfReader(NOISES) },
} as const;

/** @internal */
export const hashBinCodec: MechanismCodec<HashBinMechanism> = {
  parse(value) {
    const readLevel = oneOfReader(LEVELS);
    const level = readLevel(value, "level");
    const required = {
      name: oneOfReader(["hash-bin"]),
      level: readLevel,
      hashing: oneOfReader(HASHINGS),
      bins: readInteger,
      grid: readInteger,
      ...FIELD_READERS_BY_LEVEL[level],
    };
    return readFields(
      value,
      "mechanism",
      required,
      level === "neighbouring" ? { delta: readNumber } : {},
    );
  },
  writeCanonicalBytes({ level, noise, distance, clip, delta, hashing, bins, grid }, bytes) {
    // At level `user`, the number also encodes the noise.
    bytes.appendInteger(LEVELS.indexOf(level) + Number(noise === NOISES[1]));
    bytes.appendFloat(distance ?? clip ?? 0);
    // 0 encodes a missing δ, so a δ of 0 must not be written as 0. The core refuses NaN.
    bytes.appendFloat(delta === undefined ? 0 : delta || Number.NaN);
    bytes.appendInteger(HASHINGS.indexOf(hashing));
    bytes.appendInteger(bins);
    const bits = Math.log2(grid);
    bytes.appendInteger(Number.isInteger(bits) ? bits : UNENCODABLE_SENTINEL);
  },
};
