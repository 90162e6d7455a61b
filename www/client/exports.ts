/** What both entries export. */

export { type Client, type ClientOptions, createClient } from "./client.js";
export {
  AnswerError,
  ClosedError,
  EntropyError,
  type ErrorCode,
  HushbinError,
  NetworkError,
  OutboxFullError,
  TaskError,
  type TaskErrorCode,
  UnknownItemError,
  UploadRejectedError,
  ValueRangeError,
  WasmError,
} from "./errors.js";
export type { Answer, ReportInput } from "./input.js";
export type { CocoMechanism } from "./mechanism/coco.js";
export type { CollisionMechanism } from "./mechanism/collision.js";
export type { CubeMechanism } from "./mechanism/cube.js";
export type { HashBinMechanism } from "./mechanism/hash-bin.js";
export type { Mechanism } from "./mechanism/index.js";
export type {
  Attribute,
  BinsQuestion,
  ChoiceQuestion,
  Columns,
  CrossQuestion,
  FlagQuestion,
  LevelsQuestion,
  NumberQuestion,
  NumbersQuestion,
  Question,
  RatingsQuestion,
  Rows,
  SetQuestion,
  TextQuestion,
  TogetherQuestion,
} from "./question.js";
export { createRandomizer, type Randomizer, type RandomizerOptions } from "./randomizer.js";
export type { QuestionsTask, RatingsTask, Task } from "./task.js";
