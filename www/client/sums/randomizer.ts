/**
 * Maker of the messages of one sum task. It wraps the core: answers are objects with names, and
 * errors are classes.
 */

import { bytesToHex } from "../bytes.js";
import { coreErrorText, NO_ENTROPY_CODE } from "../codes.js";
import { ClosedError, EntropyError, TaskError, WasmError } from "../errors.js";
import { INJECTED_ARGUMENTS } from "../injected.js";
import type { PackedEntries } from "../input.js";
import type { ReportMaker } from "../maker.js";
import type { SumRandomizer as WasmRandomizer } from "../wasm/sums.js";
import { readAnswers, type SumInput } from "./input.js";
import { callSumsCore, loadSumsCore, sumsFunctions } from "./module.js";
import { UPLOAD_HEADER_LENGTH } from "./privacy.js";
import {
  canonicalSumBytes,
  messageLength,
  messagesPerPerson,
  parseSumTask,
  type SumTask,
} from "./task.js";

/**
 * Randomiser that makes the messages of one sum task, without sealing, storage and network. It is
 * meant for simulations, and for showing people what would be sent.
 *
 * The messages of a person's true input reveal that input. They must stay secret until each is
 * sealed separately and the messages of many people are shuffled. A {@link Client} does this.
 */
export interface SumRandomizer<T extends SumTask = SumTask> {
  /** Complete task. */
  readonly task: T;
  /** Fingerprint of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Number of messages that each person sends. The maximum, if the number varies. */
  readonly messages: number;
  /**
   * Number of inputs that had a number beyond its limits, a vector above the maximum length, or
   * more options than the sparsity of a set. Never sent.
   */
  readonly clipped: number;
  /** Number of inputs whose messages leave out more than 10⁻⁶ of the vector. Never sent. */
  readonly truncated: number;
  /**
   * Randomises one person's input.
   *
   * @returns all messages, of equal length, in random order
   * @throws AnswerError, UnknownItemError, ClosedError, EntropyError, WasmError
   */
  randomize(input: SumInput<T>): Uint8Array;
  /** Frees the memory inside WebAssembly. The randomiser cannot be used afterwards. */
  free(): void;
}

/** Returns the number of messages in an upload, a varint behind the header. It is at most 4096. */
function messageCountOfUpload(upload: Uint8Array): number {
  const [low = 0, high = 0] = upload.subarray(UPLOAD_HEADER_LENGTH);
  return low < 128 ? low : low - 128 + 128 * high;
}

/** @internal */
export class SumReportMaker implements ReportMaker, SumRandomizer {
  readonly task: SumTask;
  readonly fingerprint: string;
  readonly messages: number;
  #handle: WasmRandomizer | undefined;
  /** Instance of the module to which the handle belongs. */
  #handleInstanceNumber = -1;
  #clippedByHandle = 0;
  #truncatedByHandle = 0;
  /**
   * Totals of both counts over earlier handles, which were lost when the instance was restarted.
   */
  #earlierCounts: readonly [clipped: number, truncated: number] = [0, 0];

  /** @throws number, WasmError */
  constructor(task: SumTask) {
    this.task = task;
    [, this.messages] = messagesPerPerson(task);
    callSumsCore(() => this.#recreateHandle());
    this.fingerprint = bytesToHex(this.#hashOfBytes(canonicalSumBytes(task)));
  }

  get clipped(): number {
    return this.#earlierCounts[0] + this.#clippedByHandle;
  }

  get truncated(): number {
    return this.#earlierCounts[1] + this.#truncatedByHandle;
  }

  randomize(input: SumInput): Uint8Array {
    return this.makeReport(this.packAnswers(input));
  }

  packAnswers(input: unknown): PackedEntries {
    return readAnswers(this.task, input);
  }

  makeReport({ values }: PackedEntries): Uint8Array {
    return this.#callHandle((handle) => {
      const all = handle.randomize(values);
      this.#clippedByHandle = handle.clipped();
      this.#truncatedByHandle = handle.left();
      return all;
    });
  }

  countMessages(report: Uint8Array): number {
    const [min, max] = messagesPerPerson(this.task);
    const count = report.length / messageLength(this.task);
    // The shuffler refuses any other number.
    if (count < min || count > max || !Number.isInteger(count)) {
      throw new WasmError(`the core made ${count} messages, expected ${min} to ${max}`);
    }
    return count;
  }

  uploadHeader(count: number): Uint8Array {
    return this.#callHandle((handle) => handle.upload_header(count));
  }

  readonly describeCost = (upload: Uint8Array): readonly string[] => {
    const { epsilon, delta } = this.task;
    return [
      `central ε ${epsilon} but for ${delta}, no local ε`,
      `${messageCountOfUpload(upload)} messages in ${upload.length} bytes`,
    ];
  };

  free(): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined && this.#handleInstanceNumber === sumsFunctions.currentInstanceId()) {
      callSumsCore(() => handle.free());
    }
  }

  #hashOfBytes(bytes: Uint8Array): Uint8Array {
    return callSumsCore(() => sumsFunctions.digest(bytes));
  }

  #recreateHandle(): WasmRandomizer {
    this.#earlierCounts = [this.clipped, this.truncated];
    this.#clippedByHandle = 0;
    this.#truncatedByHandle = 0;
    this.#handle = new sumsFunctions.SumRandomizer(canonicalSumBytes(this.task));
    this.#handleInstanceNumber = sumsFunctions.currentInstanceId();
    return this.#handle;
  }

  #callHandle<T>(run: (handle: WasmRandomizer) => T): T {
    const handle = this.#handle;
    if (handle === undefined) {
      throw new ClosedError("randomizer");
    }
    try {
      return callSumsCore(() =>
        run(
          this.#handleInstanceNumber === sumsFunctions.currentInstanceId()
            ? handle
            : this.#recreateHandle(),
        ),
      );
    } catch (cause) {
      if (typeof cause !== "number") {
        throw cause;
      }
      throw cause === NO_ENTROPY_CODE
        ? new EntropyError()
        : new WasmError("the core refused its arguments");
    }
  }
}

/**
 * Loads the core for sum tasks, and returns the maker of a task's messages.
 *
 * @param given the task; this function checks its fields
 * @throws TaskError `invalid-task`
 * @throws EntropyError, WasmError
 * @internal
 */
export async function createSumMaker(given: unknown): Promise<SumReportMaker> {
  const task = parseSumTask(given);
  await loadSumsCore();
  try {
    return new SumReportMaker(task);
  } catch (cause) {
    if (typeof cause !== "number") {
      throw cause;
    }
    throw cause === NO_ENTROPY_CODE
      ? new EntropyError()
      : new TaskError(
          "invalid-task",
          `task ${task.id} is invalid: ${await coreErrorText(cause, INJECTED_ARGUMENTS[1])}`,
        );
  }
}
