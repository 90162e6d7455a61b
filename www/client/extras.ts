/**
 * Code that few pages need, in a separate file that is imported when needed: the store in memory,
 * tasks that the collector describes, memos, cover reports, texts of errors, and the log of the option `debug`.
 */

import { EPSILON_TOLERANCE } from "./budget.js";
import { bytesToHex } from "./bytes.js";
import { createCoverReports, releaseHeldReport } from "./cover.js";
import { taskFromCollector } from "./described.js";
import { TaskError } from "./errors.js";
import { createInjector } from "./injected.js";
import type { ReportMaker } from "./maker.js";
import { createMemoFunction } from "./memo.js";
import {
  type ClientSettings,
  epsilonLimitOptionName,
  isSumTask,
  isTaskPinnedByPage,
} from "./options.js";
import type { Receipt } from "./receipt.js";
import { MemoryStore, type SharedCharges } from "./store/memory.js";
import type { ReportWithKey, Store } from "./store/store.js";
import {
  type AnyTask,
  budgetOf,
  DEFAULT_BUDGET,
  epsilonPerWindowOrEpoch,
  type Task,
} from "./task.js";

/** Text of each error code of the core, by number. */
const ERROR_TEXTS: Readonly<Partial<Record<number, string>>> = {
  1: "a parameter is out of range",
  2: "the id is not 1 to 64 of a-z, 0-9 and '-', first no '-'",
  3: "a name is empty, too long or holds a control character",
  4: "two items or questions share a name",
  5: "parameters do not go together",
  7: "an item does not exist",
  8: "an item occurs twice",
  9: "a value is not one that the task takes",
  12: "malformed",
  14: "too many or too few answers",
  15: "the module lacks the mechanism, or a kind of question",
};

/**
 * Rounds ε to 6 significant digits. The digits after these may be wrong, because they come from
 * sums of floats.
 */
const roundToSixDigits = (epsilon: number) => Number(epsilon.toPrecision(6));

/**
 * Logs the result of a `report` call as one line. Expanding the line shows the given answers and
 * the bytes of the report. Only these bytes are stored and sent.
 */
async function logReport(
  { id, dryRun }: ClientSettings,
  input: unknown,
  { reason, epsilon, dropped }: Receipt,
  session?: { readonly reportMaker: ReportMaker; readonly store: Store },
  made?: ReportWithKey,
): Promise<void> {
  // The store may have been closed by now. That does not affect the report.
  const ledgers = await session?.store.readLedgers().catch(() => undefined);
  const spent = ledgers?.taskLedger.spent;
  const bytes = made?.bytes;
  // Undefined for tasks with a local ε, whose cost is only ε.
  const told = session?.reportMaker.describeCost;
  const digits = bytes && bytesToHex(bytes);
  const line = [(reason ?? "sent") + (dryRun ? " (a dry run: nothing is sent)" : "")];
  if (told) {
    line.push(...(bytes ? told(bytes) : []));
  } else if (spent !== undefined) {
    line.push(`ε ${roundToSixDigits(epsilon)} (${roundToSixDigits(spent)} so far)`);
  }
  if (dropped > 0) {
    line.push(`${dropped} unknown left out`);
  }
  if (digits !== undefined && !told) {
    line.push(`${digits.length / 2} bytes ${digits.slice(0, 8)}…`);
  }
  console.groupCollapsed(`hushbin ${id}: ${line.join(", ")}`);
  console.log(input);
  if (digits !== undefined) {
    console.log(digits);
  }
  console.groupEnd();
}

/**
 * Checks that a task spends no more ε than the page allows. If the collector has chosen the task's
 * parameters, also checks that the budget is not larger than the default and that ε protects whole
 * inputs.
 *
 * @throws TaskError `over-max-epsilon`, `loose-budget`, `loose-level`
 */
function checkTaskBudget(task: AnyTask, settings: ClientSettings): void {
  const { maxEpsilonAcrossTasks: maxEpsilon } = settings;
  const { days, reports, memo } = budgetOf(task);
  const spends = epsilonPerWindowOrEpoch(task);
  if (spends > maxEpsilon + EPSILON_TOLERANCE) {
    const central = isSumTask(task) ? "central " : "";
    throw new TaskError(
      "over-max-epsilon",
      `task ${task.id} may spend ${central}ε = ${spends} in ${memo?.days ?? days} days, ${epsilonLimitOptionName(task)} is ${maxEpsilon}`,
    );
  }
  if (isTaskPinnedByPage(settings)) {
    return;
  }
  const expected = "give its fingerprint, or the task itself";
  // A memo spends no more in an epoch than a fresh report of `maxEpsilon` in a window.
  if (reports > DEFAULT_BUDGET.reports || days < DEFAULT_BUDGET.days) {
    throw new TaskError(
      "loose-budget",
      `task ${task.id} may report ${reports} times in ${days} days: ${expected}`,
    );
  }
  const described = task as Task;
  for (const { mechanism } of "questions" in described ? described.questions : [described]) {
    // Below level `user`, only single items or differences between close inputs are protected.
    if ("level" in mechanism && mechanism.level !== "user") {
      throw new TaskError(
        "loose-level",
        `task ${task.id} protects no whole input, at level ${mechanism.level}: ${expected}`,
      );
    }
  }
}

/**
 * Stores in memory by key of the ledger, for pages without a database. Clients of the same task in
 * one page share a store, and thus one budget.
 */
const storeByLedgerKey = new Map<string, MemoryStore>();
/** Ledgers by collector. The stores of a collector's tasks share its ledger. */
const chargesByCollector = new Map<string, SharedCharges>();
/**
 * Stores in memory by settings of the client, for the option `storage: "memory"`. The budget of a
 * client thus outlives the client's sessions.
 */
const storeBySettings = new WeakMap<ClientSettings, MemoryStore>();

/** Returns the value of a key. If there is none, creates it with `make`. */
function getOrCreate<K, V>(
  values: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  const value = values.get(key) ?? make();
  values.set(key, value);
  return value;
}

/** Returns the store in memory that belongs to one client alone. */
const ownMemoryStore = (settings: ClientSettings) =>
  getOrCreate(storeBySettings, settings, () => new MemoryStore());

/** Returns the store in memory that all clients of a task share in this page. */
function sharedMemoryStore({
  taskLedgerKey: ledger,
  collectorLedgerKey: collector,
}: ClientSettings): MemoryStore {
  const charges = getOrCreate(chargesByCollector, collector, () => ({ charges: [] }));
  return getOrCreate(storeByLedgerKey, ledger, () => new MemoryStore(charges));
}

export const inject = createInjector({
  ERROR_TEXTS,
  checkBudget: checkTaskBudget,
  describe: taskFromCollector,
  log: logReport,
  ownMemory: ownMemoryStore,
  sharedMemory: sharedMemoryStore,
  prepareMemo: createMemoFunction,
  prepareCover: createCoverReports,
  releaseHeldReport,
});
