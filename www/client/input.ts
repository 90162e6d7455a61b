/** From a person's input, by item name, to the arrays that the core takes. */

import { UnknownItemError, ValueRangeError } from "./errors.js";
import type { Task } from "./task.js";

/**
 * One person's input: values by item name. An item that is absent or 0 is not
 * reported on.
 */
export type ReportInput = Readonly<Record<string, number>> | ReadonlyMap<string, number>;

/** An input whose names are resolved; `keys` in open tasks, `items` in closed ones. */
export type Entries =
  | { readonly items: Uint32Array; readonly values: Float64Array }
  | { readonly keys: BigUint64Array; readonly values: Float64Array };

const EXPECTED = {
  sign: "1 or -1 (or 0, which is not reported)",
  real: "a number from -1 to 1",
} as const;

function isValue(kind: Task["value"], value: unknown): value is number {
  if (kind === "sign") {
    return value === 1 || value === -1 || value === 0;
  }
  // NaN fails every comparison.
  return typeof value === "number" && value >= -1 && value <= 1;
}

/** Reads inputs of one task. */
export class InputReader {
  readonly #task: Task;
  readonly #keyOf: (name: string) => bigint;
  /** Absent where names are decimal indices or anything. */
  readonly #indices: ReadonlyMap<string, number> | undefined;

  /** @param keyOf the core's 64-bit key of a name, for open tasks */
  constructor(task: Task, keyOf: (name: string) => bigint) {
    this.#task = task;
    this.#keyOf = keyOf;
    if (Array.isArray(task.items)) {
      this.#indices = new Map(task.items.map((name: string, index) => [name, index]));
    }
  }

  /**
   * @throws UnknownItemError
   * @throws ValueRangeError
   */
  read(input: ReportInput): Entries {
    const { id, items, value: kind } = this.#task;
    const names: string[] = [];
    const values: number[] = [];
    const indices: number[] = [];
    for (const [name, value] of input instanceof Map ? input : Object.entries(input)) {
      // Unknown names are refused even at 0: they are typing errors.
      const index = items === "open" ? 0 : this.#index(name);
      if (index === undefined) {
        throw new UnknownItemError(name, id);
      }
      if (!isValue(kind, value)) {
        throw new ValueRangeError(name, value, EXPECTED[kind]);
      }
      names.push(name);
      indices.push(index);
      values.push(value);
    }
    return items === "open"
      ? { keys: BigUint64Array.from(names, this.#keyOf), values: Float64Array.from(values) }
      : { items: Uint32Array.from(indices), values: Float64Array.from(values) };
  }

  #index(name: string): number | undefined {
    if (this.#indices !== undefined) {
      return this.#indices.get(name);
    }
    const index = Number(name);
    // Only the canonical spelling: not "01", "1e0", "" or "-0".
    return String(index) === name && index === index >>> 0 && index < Number(this.#task.items)
      ? index
      : undefined;
  }
}
