/** Interface with which the client reads the parameters of mechanisms and encodes them. */

import type { CanonicalBytesBuilder } from "../canonical.js";
import { oneOfReader, readFields, readInteger, type UncheckedFields } from "../fields.js";

/** Codec for the parameters of one mechanism. */
export interface MechanismCodec<M> {
  /**
   * Reads the parameters from a task file.
   *
   * @throws TaskError `invalid-task`
   */
  parse(value: UncheckedFields): M;
  /** Appends the parameters to a task's canonical bytes. */
  writeCanonicalBytes(mechanism: M, bytes: CanonicalBytesBuilder): void;
}

/** Kinds of hash function that all hashing mechanisms support. */
export const HASHINGS = ["balanced", "independent"] as const;

/**
 * Kinds of hash function that at least one mechanism supports. The index of a kind encodes it in
 * canonical bytes.
 */
const HASHINGS_BY_NUMBER: readonly string[] = [...HASHINGS, "balanced-items", "balanced-windows"];

/** Number that is written for a value that canonical bytes cannot express. The core refuses it. */
export const UNENCODABLE_SENTINEL = 0xffff_ffff;

/** Parameters of a mechanism that reports one bucket. */
interface BucketMechanism<Name extends string, Rule extends string, Hashing extends string> {
  readonly name: Name;
  readonly rule: Rule;
  readonly favoured?: number;
  readonly hashing: Hashing;
  readonly buckets: number;
  readonly hashes?: number;
}

/**
 * Returns the codec of a mechanism that reports one bucket.
 *
 * @param paper the rule of the paper, which has no parameter `favoured`
 * @param strongest the rule that has the parameter `favoured`
 * @param sides number of buckets in each cell; elements are hashed to cells
 * @param own kind of hash function that only this mechanism supports
 */
export function bucketMechanismCodec<Name extends string, Rule extends string, Own extends string>(
  name: Name,
  paper: Rule,
  strongest: Rule,
  sides: number,
  own: Own,
): MechanismCodec<BucketMechanism<Name, Rule, (typeof HASHINGS)[number] | Own>> {
  return {
    parse(value) {
      const rule = oneOfReader([paper, strongest]);
      const required = {
        name: oneOfReader([name]),
        rule,
        hashing: oneOfReader([...HASHINGS, own]),
        buckets: readInteger,
        ...(rule(value, "rule") === strongest && { favoured: readInteger }),
      };
      return readFields(value, "mechanism", required, { hashes: readInteger });
    },
    writeCanonicalBytes({ rule, favoured, hashing, buckets, hashes = 1 }, bytes) {
      bytes.appendInteger(rule === paper ? 0 : favoured || UNENCODABLE_SENTINEL);
      // With one hash function, the number is the index of its kind.
      const number = HASHINGS_BY_NUMBER.indexOf(hashing) + HASHINGS_BY_NUMBER.length * (hashes - 1);
      bytes.appendInteger(
        hashes > 0 && number < UNENCODABLE_SENTINEL ? number : UNENCODABLE_SENTINEL,
      );
      bytes.appendInteger(buckets % sides === 0 ? buckets / sides : UNENCODABLE_SENTINEL);
    },
  };
}
