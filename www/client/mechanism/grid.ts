import { drawnCodec, type MechanismCodec } from "./codec.js";

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
export const grid: MechanismCodec<GridMechanism> = /* @__PURE__ */ drawnCodec("grid", "steps");
