/** Exports that the package's entries for pages and servers share. */

export type { Client, ClientInfo } from "./client-interface.js";
export type { Consent } from "./consent-state.js";
export { createClient } from "./create-client.js";
export { createRandomizer } from "./engine-loader.js";
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
  ValueRangeError,
  WasmError,
} from "./errors.js";
export type { Answer, ReportInput } from "./input.js";
export { privacyOf } from "./loaders.js";
export type { CocoMechanism } from "./mechanism/coco.js";
export type { CollisionMechanism } from "./mechanism/collision.js";
export type { HashBinMechanism } from "./mechanism/hash-bin.js";
export type { Mechanism } from "./mechanism/index.js";
export type { PatternMechanism } from "./mechanism/pattern.js";
export type { WindowMechanism } from "./mechanism/window.js";
export type {
  ClientOptions,
  CommonOptions,
  LocalEpsilonOptions,
  Relay,
  ReportSealingOptions,
  SumOptions,
  UnsealedOptions,
} from "./options.js";
export type {
  BinsQuestion,
  ChoiceQuestion,
  ColumnPart,
  CrossQuestion,
  FlagQuestion,
  LevelPart,
  MeanQuestion,
  NumberDefinition,
  NumberQuestion,
  NumbersQuestion,
  Question,
  RatingsQuestion,
  RowPart,
  SetQuestion,
  TextQuestion,
  TogetherQuestion,
} from "./question.js";
export type { Randomizer, RandomizerOf, RandomizerOptions } from "./randomizer.js";
export type { Receipt } from "./receipt.js";
export type {
  BudgetStatus,
  HistoryEntry,
  InputOf,
  LocalResults,
  ResultsOf,
  SumBudgetStatus,
  SumHistoryEntry,
  SumReceipt,
  SumResults,
} from "./results.js";
export type { ReportState } from "./store/store.js";
export type { SumInput } from "./sums/input.js";
export type { SumPrivacy } from "./sums/privacy.js";
export type { SumRandomizer } from "./sums/randomizer.js";
export type {
  CountedNumber,
  CountedQuestion,
  CountedSet,
  LotteryMessages,
  NumbersTask,
  QuestionsSumTask,
  SumMessages,
  SumTask,
  SumVector,
  VectorTask,
} from "./sums/task.js";
export type { MemoParameters, QuestionsTask, RatingsTask, ReportBudget, Task } from "./task.js";
