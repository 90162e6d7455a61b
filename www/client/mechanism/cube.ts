import { drawnCodec, type MechanismCodec } from "./codec.js";

/** Parameters of the mechanism cube, which estimates means of numbers that everybody has. */
export interface CubeMechanism {
  readonly name: "cube";
  /** Number of attributes that a report is about, 1 to 64. */
  readonly drawn: number;
  /** In how many of them favoured reports agree with the input, 1 to `drawn`. */
  readonly agreements: number;
}

/** @internal */
export const cube: MechanismCodec<CubeMechanism> = /* @__PURE__ */ drawnCodec("cube", "agreements");
