import { integer, number, oneOf, read } from "../fields.js";
import { HASHINGS, type MechanismCodec, OUT_OF_RANGE } from "./codec.js";

/**
 * Parameters of the mechanism hash-bin, which estimates means of real values
 * from all entries of an input, however many there are.
 */
export interface HashBinMechanism {
  readonly name: "hash-bin";
  /**
   * What ε is about: `event`, the value of any single item but not a whole
   * input; `neighbouring`, which of two inputs it is that differ by at most
   * `distance`; `user`, a whole input.
   */
  readonly level: "event" | "neighbouring" | "user";
  /** How far neighbouring inputs are apart, in sum, up to 2048; at level `neighbouring`. */
  readonly distance?: number;
  /** With which probability the guarantee may fail, 1e-15 to 0.01; at level `neighbouring`. */
  readonly delta?: number;
  /**
   * Where the sum of an input's signed values is cut off, a multiple of 1 / `grid`
   * up to 1024; at level `user`. What it cuts off biases estimates towards 0.
   */
  readonly clip?: number;
  /** How the sum is randomised: to one sign, or by adding noise; at level `user`. */
  readonly noise?: "two-point" | "laplace";
  /** How items are hashed to bins. */
  readonly hashing: "balanced" | "independent";
  /** Number of bins, at most 4096 and the number of items; at level `user` 1. */
  readonly bins: number;
  /** Bins hold multiples of one over this, a power of two up to 65536. */
  readonly grid: number;
}

const LEVELS = ["event", "neighbouring", "user"] as const;
const NOISES = ["two-point", "laplace"] as const;

/** The parameters that each level has besides those of all. */
const OF_LEVEL = {
  event: {},
  neighbouring: { distance: number },
  user: { clip: number, noise: /* @__PURE__ */ oneOf(NOISES) },
} as const;

/** @internal */
export const hashBin: MechanismCodec<HashBinMechanism> = {
  parse(value) {
    const readLevel = oneOf(LEVELS);
    const level = readLevel(value, "level");
    const required = {
      name: oneOf(["hash-bin"]),
      level: readLevel,
      hashing: oneOf(HASHINGS),
      bins: integer,
      grid: integer,
      ...OF_LEVEL[level],
    };
    return read(value, "mechanism", required, level === "neighbouring" ? { delta: number } : {});
  },
  write({ level, noise, distance, clip, delta, hashing, bins, grid }, bytes) {
    // At level `user` the noise is told with it.
    bytes.number(LEVELS.indexOf(level) + Number(noise === NOISES[1]));
    bytes.float(distance ?? clip ?? 0);
    // Where there is none 0 is written, so a δ of 0 is not to be.
    bytes.float(delta === undefined ? 0 : delta || Number.NaN);
    bytes.number(HASHINGS.indexOf(hashing));
    bytes.number(bins);
    const bits = Math.log2(grid);
    bytes.number(Number.isInteger(bits) ? bits : OUT_OF_RANGE);
  },
};
