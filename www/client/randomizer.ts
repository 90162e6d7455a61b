/** One task's randomiser: the core behind names, objects and named errors. */

import { bindings } from "./bindings.js";
import { hex, joined } from "./bytes.js";
import { utf8 } from "./canonical.js";
import { explained, NO_ENTROPY, UNKNOWN_MECHANISM } from "./codes.js";
import { copied } from "./entries.js";
import { ClosedError, EntropyError, TaskError } from "./errors.js";
import { type Entries, InputReader, type ReportInput } from "./input.js";
import type { ReportMaker } from "./maker.js";
import { completeModule, guarded, loadModule } from "./module.js";
import { isSum } from "./options.js";
import { sums } from "./parts.js";
import type { SumRandomizer } from "./sums/randomizer.js";
import type { SumTask } from "./sums/task.js";
import { canonicalBytes, parseTask, type Task } from "./task.js";
import type { Randomizer as WasmRandomizer } from "./wasm/hushbin.js";

/**
 * Makes the reports of one task, without outbox and network: a step below
 * {@link Client}, for simulations and for showing people what would be sent.
 *
 * Each report of a person's true input spends ε anew. For telemetry use a
 * client, which randomises once and sends those bytes until they arrive.
 */
export interface Randomizer<T extends Task = Task> {
  /** The task, complete. */
  readonly task: T;
  /** Identity of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** How many reports had to leave entries out; under hash-bin none. Never sent. */
  readonly sampledDown: number;
  /**
   * How many numbers of the inputs to `randomize` were beyond the ends of their
   * question's scale, to which they were clipped. Never sent.
   */
  readonly clipped: number;
  /**
   * Randomises one person's input.
   *
   * @returns the encoded report
   * @throws AnswerError, UnknownItemError, ValueRangeError, WasmError
   */
  randomize(input: ReportInput<T>): Uint8Array;
  /**
   * Randomises many people's inputs to a closed task at once: person i has the
   * next `lengths[i]` entries, each an item's index and its value. Where a task
   * asks several questions, each person has as many lengths, one for each of
   * them in turn. An option is an entry of the value 1, no and yes are items 0 and
   * 1, and a number is the value of item 0; several
   * are the values of their items.
   *
   * @returns the encoded reports, back to back
   * @throws RangeError when the arrays do not fit the task or each other
   * @throws WasmError
   */
  randomizeMany(lengths: Uint32Array, items: Uint32Array, values: Float64Array): Uint8Array;
  /**
   * Puts encoded reports, back to back, into an upload with an id of its own:
   * the body of `POST /tasks/{id}/reports`.
   *
   * @throws RangeError unless `count` is 1 to 4096
   * @throws WasmError
   */
  upload(reports: Uint8Array, count: number): Uint8Array<ArrayBuffer>;
  /**
   * What an upload of `count` reports begins with, under an id of its own; the
   * encoded reports follow, back to back.
   *
   * @throws RangeError unless `count` is 1 to 4096
   * @throws WasmError
   */
  uploadHeader(count: number): Uint8Array;
  /** Frees the memory inside WebAssembly. The randomiser cannot be used after. */
  free(): void;
}

/**
 * The randomiser of a task.
 *
 * @typeParam T the task's type
 */
export type RandomizerOf<T extends Task | SumTask> = [T] extends [Task]
  ? Randomizer<T>
  : [T] extends [SumTask]
    ? SumRandomizer<T>
    : Randomizer | SumRandomizer;

/** Options of {@link createRandomizer}. */
export interface RandomizerOptions<T extends Task | SumTask = Task> {
  /** The complete task. */
  readonly task: T;
}

/**
 * A randomiser in two steps, for those who decide between them.
 *
 * @internal
 */
export class Engine implements Randomizer, ReportMaker {
  readonly messages = 1;
  declare readonly task: Task;
  declare readonly fingerprint: string;
  readonly #reader: InputReader;
  #handle: WasmRandomizer | undefined;
  /** The start of the module that the handle belongs to. */
  #instance = -1;
  #sampledDown = 0;
  /** Of handles that died with their instance. */
  #sampledDownBefore = 0;
  #clipped = 0;

  /**
   * @param lenient whether names that the task does not have are left out of inputs
   * @throws number, TaskError, WasmError
   */
  constructor(task: Task, lenient: boolean) {
    this.task = task;
    this.#reader = new InputReader(task, (name) => this.digest(utf8(name)), lenient);
    guarded(() => this.#renew());
    this.fingerprint = hex(this.#hash(canonicalBytes(task)));
  }

  get sampledDown(): number {
    return this.#sampledDownBefore + this.#sampledDown;
  }

  get clipped(): number {
    return this.#clipped;
  }

  randomize(input: ReportInput): Uint8Array {
    return this.make(this.read(input));
  }

  /**
   * An input by indices. Draws nothing.
   *
   * @throws AnswerError, UnknownItemError, ValueRangeError
   */
  read(input: unknown): Entries {
    return this.#reader.read(input);
  }

  /**
   * Randomises what was read.
   *
   * @throws ClosedError, EntropyError, WasmError
   */
  make({ lengths, items, values, clipped }: Entries): Uint8Array {
    const report = this.randomizeMany(lengths, items, values);
    this.#clipped += clipped;
    return report;
  }

  /** 64 bits that follow from bytes. */
  digest(bytes: Uint8Array): bigint {
    return new DataView(this.#hash(bytes).buffer).getBigUint64(0, true);
  }

  randomizeMany(lengths: Uint32Array, items: Uint32Array, values: Float64Array): Uint8Array {
    return this.#call((handle) => {
      const reports = handle.randomize(lengths, items, values);
      this.#sampledDown = handle.sampled_down();
      return reports;
    });
  }

  upload(reports: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
    return joined([this.uploadHeader(count), reports]);
  }

  uploadHeader(count: number): Uint8Array {
    // A copy out of the module's memory, never a view of it.
    return this.#call((handle) => handle.upload_header(count));
  }

  free(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined && this.#instance === bindings.currentInstance()) {
      guarded(() => handle.free());
    }
  }

  #hash(bytes: Uint8Array): Uint8Array {
    return guarded(() => bindings.digest(bytes));
  }

  #renew(): WasmRandomizer {
    this.#sampledDownBefore += this.#sampledDown;
    this.#sampledDown = 0;
    this.#handle = new bindings.Randomizer(canonicalBytes(this.task));
    this.#instance = bindings.currentInstance();
    return this.#handle;
  }

  #call<T>(run: (handle: WasmRandomizer) => T): T {
    const handle = this.#handle;
    if (handle === undefined) {
      throw new ClosedError("randomizer");
    }
    try {
      return guarded(() =>
        run(this.#instance === bindings.currentInstance() ? handle : this.#renew()),
      );
    } catch (cause) {
      if (typeof cause !== "number") {
        throw cause;
      }
      throw cause === NO_ENTROPY
        ? new EntropyError()
        : new RangeError("arguments do not fit the task");
    }
  }
}

/**
 * The engine of a task. The module knows which mechanisms and kinds of questions it has;
 * where it lacks one of the task's, the complete one takes its place.
 *
 * @throws number, TaskError, WasmError
 */
async function engineOf(task: Task, lenient: boolean): Promise<Engine> {
  try {
    return new Engine(task, lenient);
  } catch (cause) {
    if (cause !== UNKNOWN_MECHANISM) {
      throw cause;
    }
    await completeModule();
    return new Engine(task, lenient);
  }
}

/**
 * @throws TaskError `invalid-task`
 * @throws EntropyError, WasmError
 * @internal
 */
export async function createEngine(task: Task, lenient: boolean): Promise<Engine> {
  await loadModule();
  try {
    return await engineOf(task, lenient);
  } catch (cause) {
    if (typeof cause !== "number") {
      throw cause;
    }
    throw cause === NO_ENTROPY
      ? new EntropyError()
      : new TaskError("invalid-task", `task ${task.id} is invalid: ${await explained(cause)}`);
  }
}

/**
 * Makes a randomiser for a complete task, of sums too.
 *
 * @example
 * ```ts
 * const randomizer = await createRandomizer({ task });
 * const report = randomizer.randomize({ "dark-mode": 1 });
 * ```
 *
 * @throws TaskError `invalid-task`
 * @throws EntropyError, WasmError
 */
export async function createRandomizer<const T extends Task | SumTask>(
  options: RandomizerOptions<T>,
): Promise<RandomizerOf<T>>;
export async function createRandomizer({
  task,
}: RandomizerOptions<Task | SumTask>): Promise<Randomizer | SumRandomizer> {
  // The caller may change its own task afterwards.
  const own = copied(task);
  return isSum(own) ? (await sums()).createMaker(own) : createEngine(parseTask(own), false);
}
