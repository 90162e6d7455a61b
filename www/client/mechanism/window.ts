import { listReader, readFields, readInteger, readString } from "../fields.js";
import type { MechanismCodec } from "./codec.js";

/**
 * Parameters of the mechanism window, which estimates means of numbers that every person has. For
 * each number that a report reveals, it names one of `atoms` outputs, called atoms. The number
 * makes `favoured` adjacent atoms more likely than the rest. In estimates, each atom counts as a
 * value.
 */
export interface WindowMechanism {
  readonly name: "window";
  /** Number of numbers (attributes) that a report reveals, chosen at random: 1 to 12. */
  readonly drawn: number;
  /**
   * Number of possible atoms for each number, at least 2. `atoms` to the power of `drawn` is at
   * most 4096.
   */
  readonly atoms: number;
  /** Number of atoms that a number favours, from 1 to half of `atoms`. */
  readonly favoured: number;
  /** Values of the atoms in the upper half, ascending integers from 0 to 1023. */
  readonly values: readonly number[];
}

/** @internal */
export const windowCodec: MechanismCodec<WindowMechanism> = {
  parse(value) {
    const required = {
      name: readString,
      drawn: readInteger,
      atoms: readInteger,
      favoured: readInteger,
      values: listReader(readInteger),
    };
    // The name has been checked by the lookup.
    return readFields(value, "mechanism", required, {}) as WindowMechanism;
  },
  writeCanonicalBytes({ drawn, atoms, favoured, values }, bytes) {
    for (const number of [drawn, atoms, favoured]) bytes.appendInteger(number);
    bytes.appendIntegerList(values);
  },
};
