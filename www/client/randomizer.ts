/**
 * Randomiser of one task. It wraps the core: answers are objects with names, and errors are
 * classes.
 */

import { bindings } from "./bindings.js";
import { type Bytes, bytesToHex, concatBytes } from "./bytes.js";
import { encodeUtf8 } from "./canonical.js";
import { coreErrorText, NO_ENTROPY_CODE, UNKNOWN_MECHANISM_CODE } from "./codes.js";
import { ClosedError, EntropyError, OptionError, TaskError } from "./errors.js";
import { InputReader, type PackedEntries, type ReportInput } from "./input.js";
import { loadExtras, loadSums } from "./loaders.js";
import type { ReportMaker } from "./maker.js";
import { callCore, loadCompleteModule, loadModule } from "./module.js";
import { isSumTask } from "./options.js";
import type { SumRandomizer } from "./sums/randomizer.js";
import type { SumTask } from "./sums/task.js";
import { canonicalBytes, parseTask, type Task } from "./task.js";
import type { Randomizer as WasmRandomizer } from "./wasm/hushbin.js";

/**
 * Randomiser that makes the reports of one task, without storage and network. It is meant for
 * simulations, and for showing people what would be sent.
 *
 * Each report of a person's true answers spends ε again. For telemetry use a {@link Client}: it
 * randomises once and sends the same bytes until they arrive.
 */
export interface Randomizer<T extends Task = Task> {
  /** Complete task. */
  readonly task: T;
  /** Fingerprint of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Number of reports that had to leave out entries. It is always 0 for hash-bin. Never sent. */
  readonly sampledDown: number;
  /**
   * Number of values in the inputs to `randomize` that were clipped to the ends of a scale. Never
   * sent.
   */
  readonly clipped: number;
  /**
   * Randomises the answers of one person.
   *
   * @returns the encoded report
   * @throws AnswerError, UnknownItemError, ValueRangeError, ClosedError, EntropyError, WasmError
   */
  randomize(input: ReportInput<T>): Uint8Array;
  /**
   * Randomises the answers of many people at once. The task must not have open items.
   *
   * `lengths[i]` is the number of entries of person i. The entries of all people follow one
   * another. An entry has the index of an item and its value. If the task asks several questions,
   * each person has one length for each question, in order. The entries depend on the kind of
   * question:
   *
   * - An option is the item with its index, with value 1.
   * - A flag is item 0 for no and item 1 for yes, with value 1.
   * - A number is the value of item 0.
   * - Several numbers are the values of items 0, 1 and so on.
   *
   * @returns the encoded reports, one after the other
   * @throws OptionError if the arrays do not match the task or each other
   * @throws ClosedError, EntropyError, WasmError
   */
  randomizeMany(lengths: Uint32Array, items: Uint32Array, values: Float64Array): Uint8Array;
  /**
   * Returns an upload of encoded reports, which `reports` lists one after the other. The upload has
   * a new id. It is the body of `POST /tasks/{id}/reports`.
   *
   * @throws OptionError unless `count` is 1 to 4096
   * @throws ClosedError, EntropyError, WasmError
   */
  upload(reports: Uint8Array, count: number): Bytes;
  /**
   * Returns the header of an upload of `count` reports, with a new id. The encoded reports follow
   * it, one after the other.
   *
   * @throws OptionError unless `count` is 1 to 4096
   * @throws ClosedError, EntropyError, WasmError
   */
  uploadHeader(count: number): Uint8Array;
  /** Frees the memory inside WebAssembly. The randomiser cannot be used afterwards. */
  free(): void;
}

/**
 * Type of the randomiser of a task.
 *
 * @typeParam T the type of the task
 */
export type RandomizerOf<T extends Task | SumTask> = [T] extends [Task]
  ? Randomizer<T>
  : [T] extends [SumTask]
    ? SumRandomizer<T>
    : Randomizer | SumRandomizer;

/** Options of {@link createRandomizer}. */
export interface RandomizerOptions<T extends Task | SumTask = Task> {
  /** Complete task. */
  readonly task: T;
  /** Label of the reports, if the task has `labels`. */
  readonly label?: string | undefined;
}

/**
 * Randomiser of a task with a local ε. Its two steps, reading answers and making a report, can be
 * called separately.
 *
 * @internal
 */
export class LocalReportMaker implements Randomizer, ReportMaker {
  declare readonly task: Task;
  declare readonly fingerprint: string;
  readonly #reader: InputReader;
  #handle: WasmRandomizer | undefined;
  /** Instance of the module to which the handle belongs. */
  #handleInstanceId = -1;
  #sampledDownCount = 0;
  /**
   * Total of `sampledDown` over earlier handles, which were lost when the instance was restarted.
   */
  #earlierSampledDownCount = 0;
  #clippedCount = 0;

  /**
   * @throws number, TaskError, WasmError
   */
  constructor(task: Task) {
    this.task = task;
    // The key of a name is the first 64 bits of its digest.
    this.#reader = new InputReader(task, (name) =>
      new DataView(this.#hash(encodeUtf8(name)).buffer).getBigUint64(0, true),
    );
    callCore(() => this.#recreateHandle());
    this.fingerprint = bytesToHex(this.#hash(canonicalBytes(task)));
  }

  get sampledDown(): number {
    return this.#earlierSampledDownCount + this.#sampledDownCount;
  }

  get clipped(): number {
    return this.#clippedCount;
  }

  randomize(input: ReportInput): Uint8Array {
    const entries = this.packAnswers(input);
    for (const error of entries.unknownAnswerErrors) {
      throw error;
    }
    return this.makeReport(entries);
  }

  /**
   * Reads a person's answers, and replaces names by indices or keys. An unknown option of a choice
   * is replaced by a random one.
   *
   * @throws AnswerError
   */
  packAnswers(input: unknown): PackedEntries {
    return this.#reader.packAnswers(input);
  }

  /**
   * Makes a report: randomises answers that {@link packAnswers} has read.
   *
   * @throws ClosedError, EntropyError, WasmError
   */
  makeReport({
    entryCounts: lengths,
    items,
    values,
    clippedCount: clipped,
  }: PackedEntries): Uint8Array {
    const report = this.randomizeMany(lengths, items, values);
    // Counted only if a report was made.
    this.#clippedCount += clipped;
    return report;
  }

  countMessages(): number {
    return 1;
  }

  /**
   * Draws the memo of answers that {@link packAnswers} has read, for a task whose budget has a memo.
   *
   * @returns the slot of the randomised answer
   * @throws ClosedError, EntropyError, WasmError
   */
  drawMemoSlot({ items, values }: PackedEntries): number {
    // Entries with value 0 count as absent.
    const option = Number(items[values.findIndex((value) => value !== 0)]);
    return this.#callHandle((handle) => handle.draw_memo(option));
  }

  /**
   * Makes a report from the slot of a memo.
   *
   * @throws ClosedError, EntropyError, WasmError
   */
  makeFromMemo(slot: number): Uint8Array {
    return this.#callHandle((handle) => handle.randomize_memo(slot));
  }

  randomizeMany(lengths: Uint32Array, items: Uint32Array, values: Float64Array): Uint8Array {
    const run = (handle: WasmRandomizer) => {
      const reports = handle.randomize(lengths, items, values);
      this.#sampledDownCount = handle.sampled_down();
      return reports;
    };
    return this.#callHandle(run);
  }

  upload(reports: Uint8Array, count: number): Uint8Array<ArrayBuffer> {
    return concatBytes([this.uploadHeader(count), reports]);
  }

  uploadHeader(count: number): Uint8Array {
    // A copy of the module's memory, never a view.
    return this.#callHandle((handle) => handle.upload_header(count));
  }

  free(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    // A handle of an earlier instance points into memory that no longer exists.
    if (handle !== undefined && this.#handleInstanceId === bindings.currentInstanceId()) {
      callCore(() => handle.free());
    }
  }

  #hash(bytes: Uint8Array): Uint8Array {
    return callCore(() => bindings.digest(bytes));
  }

  #recreateHandle(): WasmRandomizer {
    this.#earlierSampledDownCount += this.#sampledDownCount;
    this.#sampledDownCount = 0;
    this.#handle = new bindings.Randomizer(canonicalBytes(this.task));
    this.#handleInstanceId = bindings.currentInstanceId();
    return this.#handle;
  }

  #callHandle<T>(run: (handle: WasmRandomizer) => T): T {
    const handle = this.#handle;
    if (handle === undefined) {
      throw new ClosedError("randomizer");
    }
    try {
      return callCore(() =>
        run(
          this.#handleInstanceId === bindings.currentInstanceId() ? handle : this.#recreateHandle(),
        ),
      );
    } catch (cause) {
      if (typeof cause !== "number") {
        throw cause;
      }
      throw cause === NO_ENTROPY_CODE
        ? new EntropyError()
        : new OptionError("arguments", "invalid", "1 to 4096 reports, arrays that fit the task");
    }
  }
}

/**
 * Creates the report maker of a task. If the module lacks a mechanism or a kind of question of the task,
 * loads the complete module first.
 *
 * @throws number, TaskError, WasmError
 */
async function createMakerWithNeededModule(task: Task): Promise<LocalReportMaker> {
  try {
    return new LocalReportMaker(task);
  } catch (cause) {
    if (cause !== UNKNOWN_MECHANISM_CODE) {
      throw cause;
    }
    await loadCompleteModule();
    return new LocalReportMaker(task);
  }
}

/**
 * Loads the core, and creates the report maker of a task.
 *
 * @throws TaskError `invalid-task`
 * @throws EntropyError, WasmError
 * @internal
 */
export async function createLocalMaker(task: Task): Promise<LocalReportMaker> {
  await loadModule();
  try {
    return await createMakerWithNeededModule(task);
  } catch (cause) {
    if (typeof cause !== "number") {
      throw cause;
    }
    throw cause === NO_ENTROPY_CODE
      ? new EntropyError()
      : new TaskError(
          "invalid-task",
          `task ${task.id} is invalid: ${await coreErrorText(cause, loadExtras)}`,
        );
  }
}

/**
 * Creates a randomiser for a complete task, which may be a sum task.
 *
 * @throws TaskError `invalid-task`
 * @throws EntropyError, SealingError, WasmError
 * @internal
 */
export async function createRandomizer(task: unknown): Promise<Randomizer | SumRandomizer> {
  return isSumTask(task) ? (await loadSums()).createMaker(task) : createLocalMaker(parseTask(task));
}
