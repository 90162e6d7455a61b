/**
 * hushbin for sums in the shuffle model: where people trust a shuffler, sums with a hundredth
 * of the error. There is no local ε. A person's messages, each sealed by itself to the analyser,
 * say the answer; what hides it is that a shuffler forgets whose they are, and that the
 * messages of many others are among them.
 *
 * It has a WebAssembly module of its own in it; what seals is imported from a file of its own
 * as consent is granted.
 *
 * @packageDocumentation
 */

import { HushbinSumClient, type SumClient, type SumClientOptions } from "./sums/client.js";
import type { SumTask } from "./sums/task.js";

export type { Consent } from "./consent.js";
export {
  AnswerError,
  ClosedError,
  EntropyError,
  type ErrorCode,
  HushbinError,
  NetworkError,
  OptionError,
  OutboxFullError,
  SealingError,
  StorageError,
  TaskError,
  type TaskErrorCode,
  UnknownItemError,
  UploadRejectedError,
  WasmError,
} from "./errors.js";
export type { Attribute } from "./question.js";
export type { Relay, Sealing } from "./sealed/options.js";
export type { ReportState } from "./store/store.js";
export type {
  SumAbout,
  SumClient,
  SumClientOptions,
  SumReceipt,
  SumSent,
  SumSpent,
} from "./sums/client.js";
export type { SumInput } from "./sums/input.js";
export { initialize, type SumSource } from "./sums/module.js";
export { privacyOf, type SumPrivacy } from "./sums/privacy.js";
export {
  createRandomizer,
  type SumRandomizer,
  type SumRandomizerOptions,
} from "./sums/randomizer.js";
export type { NumbersTask, SumMessages, SumTask, SumVector, VectorTask } from "./sums/task.js";
export type { Budget } from "./task.js";

/**
 * Makes a client for one task of sums through one shuffler, whose messages only the analyser
 * can read. Returns at once: reports wait for what they need, which is loaded as soon as
 * consent is granted.
 *
 * @example
 * ```ts
 * import { createClient } from "hushbin/sums";
 *
 * const client = createClient({
 *   endpoint: "https://shuffler.example",
 *   task,
 *   trust: "shuffler",
 *   analyser: ["8f1c5b0e63a7d2940b5e7c1f2a9d4e60"],
 * });
 * client.grant(); // once the person agrees
 * ```
 *
 * @throws OptionError when an option cannot be used, or `trust` is not said
 * @throws TaskError when the task is malformed, or none of sums
 */
export function createClient<const T extends SumTask>(options: SumClientOptions<T>): SumClient<T>;
export function createClient(options: SumClientOptions): SumClient {
  return new HushbinSumClient(options);
}
