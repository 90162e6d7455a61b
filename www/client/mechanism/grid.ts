import { integer, oneOf, read } from "../fields.js";
import type { MechanismCodec } from "./codec.js";

/**
 * Parameters of the mechanism grid, which estimates means of numbers that everybody has from
 * levels that they are rounded to.
 */
export interface GridMechanism {
  readonly name: "grid";
  /** Number of attributes that a report is about, 1 to 12. */
  readonly drawn: number;
  /**
   * Number of steps between levels, one less than there are, 1 to 1023; all levels to the
   * power of `drawn` are at most 4096.
   */
  readonly steps: number;
}

/** @internal */
export const grid: MechanismCodec<GridMechanism> = {
  parse: (value) =>
    read(
      value,
      "mechanism",
      { name: oneOf(["grid"] as const), drawn: integer, steps: integer },
      {},
    ),
  write({ drawn, steps }, bytes) {
    bytes.number(drawn);
    bytes.number(steps);
  },
};
