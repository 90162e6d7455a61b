import { integer, listOf, read, text } from "../fields.js";
import type { MechanismCodec } from "./codec.js";

/**
 * Parameters of the mechanism pattern, which estimates quantiles of a number in bins. The
 * first bin favours some outputs, and each other one the same, moved on by its place.
 */
export interface PatternMechanism {
  readonly name: "pattern";
  /** Number of outputs, from the number of bins to 256. */
  readonly outputs: number;
  /** Outputs that the first bin favours: some but not all, ascending from 0. */
  readonly favoured: readonly number[];
}

/** @internal */
export const pattern: MechanismCodec<PatternMechanism> = {
  parse(value) {
    const required = { name: text, outputs: integer, favoured: listOf(integer) };
    // Its name has been looked up.
    return read(value, "mechanism", required, {}) as PatternMechanism;
  },
  write({ outputs, favoured }, bytes) {
    bytes.number(outputs);
    bytes.list(favoured);
  },
};
