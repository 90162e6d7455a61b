import { listReader, readFields, readInteger, readString } from "../fields.js";
import type { MechanismCodec } from "./codec.js";

/**
 * Parameters of the mechanism pattern, which estimates quantiles of a number in bins. A report is
 * one output. A number makes the outputs that its bin favours more likely. The first bin favours
 * the outputs in `favoured`. Each further bin favours the same pattern, shifted cyclically by the
 * index of the bin.
 */
export interface PatternMechanism {
  readonly name: "pattern";
  /** Number of outputs, from the number of bins to 256. */
  readonly outputs: number;
  /**
   * Outputs that the first bin favours, in ascending order: at least one, but not all. Outputs are
   * numbered from 0.
   */
  readonly favoured: readonly number[];
}

/** @internal */
export const patternCodec: MechanismCodec<PatternMechanism> = {
  parse(value) {
    const required = { name: readString, outputs: readInteger, favoured: listReader(readInteger) };
    // The name has been checked by the lookup.
    return readFields(value, "mechanism", required, {}) as PatternMechanism;
  },
  writeCanonicalBytes({ outputs, favoured }, bytes) {
    bytes.appendInteger(outputs);
    bytes.appendIntegerList(favoured);
  },
};
