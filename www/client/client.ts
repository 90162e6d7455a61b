/** The client: reports go in, randomised bytes go out. */

import { Delivery } from "./delivery.js";
import { ClosedError, type HushbinError, OutboxFullError, TaskError } from "./errors.js";
import type { ReportInput } from "./input.js";
import { MemoryOutbox, type Outbox } from "./outbox.js";
import { onPageHidden } from "./page.js";
import { createRandomizer, type Randomizer } from "./randomizer.js";
import { fetchTask, type Task } from "./task.js";
import { FetchTransport } from "./transport.js";

/**
 * Options of {@link createClient}.
 *
 * @typeParam T the task's type: a literal's, so that `report` knows its names
 */
export interface ClientOptions<T extends Task | string = Task | string> {
  /**
   * The collector's base URL. May be relative to the page, and may have a
   * path.
   */
  readonly endpoint: string | URL;
  /** The complete task, or the id of one that the collector describes. */
  readonly task: T;
  /**
   * The fingerprint that the task must have, 32 hexadecimal digits. Pins its
   * parameters, ε included, when the task comes from the collector.
   */
  readonly fingerprint?: string | undefined;
  /**
   * How long a report may wait for others before it is sent, in milliseconds.
   * Earlier when an upload is full or the page is hidden. Default 5000.
   */
  readonly delayMs?: number | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Told of failures to send that no call of `flush` is waiting for. By
   * default refused uploads, whose reports are lost, are warned of on the
   * console; what is tried again is not mentioned.
   */
  readonly onError?: ((error: HushbinError) => void) | undefined;
}

/**
 * Reports to one task of one collector.
 *
 * @example
 * ```ts
 * const client = await createClient({
 *   endpoint: "https://telemetry.example",
 *   task: "settings",
 * });
 * await client.report({ theme: "dark", features: ["search"], loadMs: 1830 });
 * ```
 *
 * @typeParam T the task's type
 */
export interface Client<T extends Task = Task> {
  /** The task, complete. */
  readonly task: T;
  /** Identity of the task's parameters, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Number of reports that the collector has not acknowledged yet. */
  readonly pending: number;
  /**
   * Randomises an input, before this returns, and queues the randomised
   * report; the input itself is kept nowhere. Each call spends the task's ε.
   *
   * @param input the answers to all questions, by name; or, of a task without
   * questions, values by item name: 1 or -1, or from -1 to 1 where the task
   * takes real values; 0 is as if absent
   * @returns when the report is queued
   * @throws AnswerError, UnknownItemError, ValueRangeError, OutboxFullError, ClosedError,
   * EntropyError, WasmError; nothing is queued then
   */
  report(input: ReportInput<T>): Promise<void>;
  /**
   * Sends everything queued so far.
   *
   * @returns when the collector has acknowledged all of it
   * @throws NetworkError when the collector cannot be reached; the reports are
   * kept, and the same bytes are sent again later
   * @throws UploadRejectedError when the collector refused reports for good
   * @throws ClosedError, WasmError
   */
  flush(): Promise<void>;
  /**
   * Makes one attempt to send what is queued, then frees all resources. What
   * could not be sent is dropped. Never rejects; closing twice is the same as
   * closing once.
   */
  close(): Promise<void>;
}

/** Most bytes that wait in a client: some hundred thousand reports. */
const OUTBOX_BYTES = 1024 * 1024;
const DELAY_MS = 5_000;

function warn(error: HushbinError): void {
  if (error.code === "upload-rejected") {
    console.warn(`hushbin: ${error.message}`);
  }
}

/** The URL of a task's resource, whatever slashes the endpoint ends with. */
function taskUrl(endpoint: string | URL, id: string): string {
  const base = String(endpoint).replace(/\/+$/, "");
  return `${base}/tasks/${encodeURIComponent(id)}`;
}

interface ClientParts {
  readonly randomizer: Randomizer;
  readonly outbox: Outbox;
  readonly delivery: Delivery;
}

class HushbinClient implements Client {
  readonly #randomizer: Randomizer;
  readonly #outbox: Outbox;
  readonly #delivery: Delivery;
  readonly #unlisten: () => void;
  #closing: Promise<void> | undefined;

  constructor({ randomizer, outbox, delivery }: ClientParts) {
    this.#randomizer = randomizer;
    this.#outbox = outbox;
    this.#delivery = delivery;
    this.#unlisten = onPageHidden(() => delivery.hurry());
  }

  get task(): Task {
    return this.#randomizer.task;
  }

  get fingerprint(): string {
    return this.#randomizer.fingerprint;
  }

  get pending(): number {
    return this.#outbox.reports;
  }

  async report(input: ReportInput): Promise<void> {
    this.#checkOpen();
    // Before anything is drawn: a report that is drawn and dropped would have
    // to be drawn again.
    if (this.#outbox.bytes >= OUTBOX_BYTES) {
      throw new OutboxFullError(this.#outbox.bytes);
    }
    const queued = this.#outbox.add(this.#randomizer.randomize(input));
    this.#delivery.queued();
    await queued;
  }

  async flush(): Promise<void> {
    this.#checkOpen();
    await this.#delivery.flush();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#delivery.flush();
    } catch {
      // An attempt was promised, and made.
    }
    this.#delivery.stop();
    this.#unlisten();
    this.#randomizer.free();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) {
      throw new ClosedError("client");
    }
  }
}

/**
 * Makes a client for one task of one collector.
 *
 * Loads WebAssembly, and the task where an id is given; checks the task; and
 * seeds the generator from the browser's randomness.
 *
 * @example
 * ```ts
 * const client = await createClient({ endpoint: "https://telemetry.example", task: "settings" });
 * ```
 *
 * @throws TaskError when the task is malformed or out of range, unknown to the
 * collector, or not the pinned one
 * @throws NetworkError when the task cannot be fetched
 * @throws EntropyError when the browser gives no randomness
 * @throws WasmError when WebAssembly is missing or forbidden
 */
export async function createClient<const T extends Task | string>(
  options: ClientOptions<T>,
): Promise<Client<T extends Task ? T : Task>>;
export async function createClient(options: ClientOptions): Promise<Client> {
  // Looked up at each call, so that a page may replace it at any time.
  const fetch: typeof globalThis.fetch =
    options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const { endpoint } = options;
  let { task } = options;
  const pins = [options.fingerprint?.toLowerCase()];
  if (typeof task === "string") {
    const described = await fetchTask(taskUrl(endpoint, task), task, fetch);
    // The collector must agree with itself, too.
    pins.push(described.fingerprint);
    task = described.task;
  }
  const randomizer = await createRandomizer({ task });
  const { id } = randomizer.task;
  for (const pin of pins) {
    if (pin !== undefined && pin !== randomizer.fingerprint) {
      randomizer.free();
      throw new TaskError(
        "fingerprint-mismatch",
        `task ${id} has the fingerprint ${randomizer.fingerprint}, expected ${pin}`,
      );
    }
  }
  const outbox = new MemoryOutbox();
  const delivery = new Delivery({
    outbox,
    transport: new FetchTransport(`${taskUrl(endpoint, id)}/reports`, fetch),
    header: (count) => randomizer.uploadHeader(count),
    delayMs: options.delayMs ?? DELAY_MS,
    onError: options.onError ?? warn,
  });
  return new HushbinClient({ randomizer, outbox, delivery });
}
