/** Session of one task in this browser, while consent lasts: budget, randomiser and delivery. */

import { chargeLedger, decide, ledgerAt, saltOf } from "./budget.js";
import { bytesOf, concatBytes } from "./bytes.js";
import { Delivery } from "./delivery.js";
import { ClosedError, OutboxFullError, StorageError, TaskError } from "./errors.js";
import type { Entries } from "./input.js";
import { loadShuffled } from "./load-shuffled.js";
import type { ReportMaker } from "./maker.js";
import type { Settings } from "./options.js";
import { announcesEnd, isHidden, onLifeCycle } from "./page.js";
import { createEngine } from "./randomizer.js";
import { emptyReceipt, logReceipt, type Receipt } from "./receipt.js";
import type {
  PackedReport,
  ReportFunction,
  ReportResult,
  SealableSession,
  SessionOverrides,
} from "./session-overrides.js";
import { fetchTask, type SessionRequests } from "./session-requests.js";
import { IndexedStore } from "./store/indexed.js";
import { MemoryStore } from "./store/memory.js";
import type { Store } from "./store/store.js";
import { type AnyTask, budgetOf, DEFAULT_BUDGET, type Task } from "./task.js";
import { FetchTransport, type Transport } from "./transport.js";

/** Maximum size of a task's waiting reports, in bytes: about ten thousand reports. */
const OUTBOX_BYTES = 1024 * 1024;

/**
 * Stores in memory by ledger, for pages without a database. Clients of one page and task share a
 * store, and thus one budget.
 */
const storesByLedger = new Map<string, MemoryStore>();
/**
 * Stores in memory by client, for the option `storage: "memory"`. A client's budget thus outlives
 * its sessions.
 */
const storesByClient = new WeakMap<Settings, MemoryStore>();

/** Returns the store of a key, and makes one if there is none. */
function storeIn<K>(
  stores: { get(key: K): MemoryStore | undefined; set(key: K, store: MemoryStore): unknown },
  key: K,
): MemoryStore {
  const store = stores.get(key) ?? new MemoryStore();
  stores.set(key, store);
  return store;
}

/**
 * Returns the store of a task's budget and reports.
 *
 * @param create whether to create a database if there is none; otherwise the result is an empty
 * store
 * @throws StorageError if the database does not respond
 */
export async function storeOf(settings: Settings, create = true): Promise<Store> {
  const { storage, dryRun, ledger } = settings;
  // A dry run must not change the real ledger.
  if (storage === "memory" || dryRun) {
    return storeIn(storesByClient, settings);
  }
  try {
    if (!create && !(await IndexedStore.exists())) {
      return new MemoryStore();
    }
    return await IndexedStore.open(ledger);
  } catch (error) {
    if (error instanceof StorageError) {
      // The database exists and contains what was spent. In memory, this would be spent again.
      throw error;
    }
    // There is no database, or it may not be used here, or it is broken.
    return storeIn(storesByLedger, ledger);
  }
}

/** Transport of dry runs: acknowledges everything and sends nothing. */
const DRY_RUN_TRANSPORT: Transport = { send: async () => ({ kind: "acknowledged" }) };

/**
 * Checks that a task spends no more than the page allows. If the collector describes the task and
 * it is not pinned, its budget and level must not be weaker than the default.
 *
 * @throws TaskError `over-max-epsilon`, `loose-budget`, `loose-level`
 */
function checkBudget(task: AnyTask, settings: Settings): void {
  const { maxEpsilon } = settings;
  const { days, reports, answers } = budgetOf(task);
  const spends = task.epsilon * reports;
  if (spends > maxEpsilon) {
    throw new TaskError(
      "over-max-epsilon",
      `task ${task.id} may spend ε = ${spends} in ${days} days, maxEpsilon is ${maxEpsilon}`,
    );
  }
  if ((settings.task ?? settings.fingerprint) !== undefined) {
    return;
  }
  const expected = "give its fingerprint, or the task itself";
  if (
    reports > DEFAULT_BUDGET.reports ||
    days < DEFAULT_BUDGET.days ||
    answers !== DEFAULT_BUDGET.answers
  ) {
    throw new TaskError(
      "loose-budget",
      `task ${task.id} may report ${reports} times in ${days} days, ${answers} answers: ${expected}`,
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

/** Returns the salted digest of answers. */
export function digestOf(engine: ReportMaker, salt: Uint8Array, entries: Entries): bigint {
  const { lengths, items, values } = entries;
  return engine.digest(concatBytes([salt, lengths, items, values].map(bytesOf)));
}

export class Session implements SealableSession {
  // Only declared, which makes the compiled code smaller, as in `errors.ts`.
  declare readonly engine: ReportMaker;
  declare readonly store: Store;
  declare readonly delivery: Delivery;
  /** Function that reports answers if that takes more than one step, as for sealed reports. */
  declare reporter: ReportFunction | undefined;
  readonly #settings: Settings;
  readonly #requests: SessionRequests;
  readonly #onChanged: () => void;

  constructor(
    settings: Settings,
    requests: SessionRequests,
    engine: ReportMaker,
    store: Store,
    changed: () => void,
  ) {
    this.engine = engine;
    this.store = store;
    this.#settings = settings;
    this.#requests = requests;
    this.#onChanged = changed;
    const { url, fetch, dryRun, onError, delayMs } = settings;
    this.delivery = new Delivery({
      store,
      session: requests,
      transport: dryRun ? DRY_RUN_TRANSPORT : new FetchTransport(`${url}/reports`, fetch),
      name: `hushbin ${url}`,
      // A worker may end without an event, so its reports do not wait.
      delayMs: announcesEnd() ? delayMs : 0,
      onError,
      onSettled: changed,
    });
    const unlisten = onLifeCycle({
      hide: () => this.delivery.hide(),
      wake: () => this.delivery.wake(),
    });
    requests.onStop = () => {
      unlisten();
      this.delivery.stop();
    };
    // Send the reports of earlier pages.
    if (store.durable) {
      this.delivery.wake();
    }
  }

  /**
   * Makes a report of answers if the budget allows it. The answers are read before this call
   * returns.
   *
   * @throws AnswerError, UnknownItemError, ValueRangeError, OutboxFullError, StorageError,
   * EntropyError, WasmError; in these cases nothing is spent
   */
  async report(input: unknown): Promise<Receipt> {
    const { engine } = this;
    const entries = engine.read(input);
    const [receipt, made] = await (this.reporter?.(this, entries) ?? this.change(entries));
    if (made !== undefined) {
      this.delivery.add(made, isHidden());
      this.#onChanged();
    }
    if (this.#settings.debug) {
      // The store may have been closed by now. That does not affect the report.
      const ledger = await this.store.ledger().catch(() => undefined);
      const { spent } = ledger ?? {};
      logReceipt(this.#settings, input, receipt, { spent, bytes: made?.bytes, cost: engine.cost });
    }
    return receipt;
  }

  async change(
    entries: Entries,
    pack = (report = this.engine.make(entries)): PackedReport => [
      report,
      concatBytes([this.engine.uploadHeader(this.engine.messages), report]),
    ],
  ): Promise<ReportResult> {
    // After a stop, the store is closed.
    if (this.#requests.stopped) {
      return [emptyReceipt("no-consent", entries.dropped), undefined];
    }
    return this.store.change((before) => {
      const { engine } = this;
      const budget = budgetOf(engine.task);
      const { fingerprint } = engine;
      const { dropped } = entries;
      const now = Date.now();
      const ledger = ledgerAt(before, budget, now);
      const digest = digestOf(engine, saltOf(ledger, budget), entries);
      // Checked again: consent may have been revoked while this change waited for the store.
      const decision = this.#requests.stopped
        ? "no-consent"
        : decide(ledger, budget, fingerprint, digest);
      const fresh = decision === "draw";
      if (!fresh && typeof decision === "string") {
        return { ledger, result: emptyReceipt(decision, dropped) };
      }
      // Checked before anything is drawn: a report that is drawn and then dropped would have to be
      // drawn again.
      if (ledger.waitingBytes >= OUTBOX_BYTES) {
        throw new OutboxFullError(
          `${ledger.waitingBytes} bytes of reports wait to be sent already`,
        );
      }
      const [report, bytes] = pack(fresh ? undefined : decision.report);
      const epsilon = fresh ? engine.task.epsilon : 0;
      return {
        ledger: chargeLedger(ledger, budget, epsilon, { digest, fingerprint, report }, now),
        made: { at: now, epsilon, bytes, state: "waiting" },
        result: { outcome: "queued", epsilon, dropped },
      };
    });
  }

  /** Frees the session's resources. No call of the session may be in progress any more. */
  free(): void {
    this.engine.free();
    this.store.close();
  }
}

/**
 * Loads code and task, and begins a session.
 *
 * @param requests requests of the session; this function stops it if no session can begin
 * @param opened receives the session, unless the session was stopped in the meantime
 * @param changed called after each change of the reports
 * @throws TaskError, WasmError, EntropyError, OptionError, SealingError
 * @throws ClosedError once the session was stopped
 */
export async function openSession(
  settings: Settings,
  requests: SessionRequests,
  opened: (session: Session) => void,
  changed: () => void,
): Promise<Session> {
  let engine: ReportMaker | undefined;
  let storing: Promise<Store> | undefined;
  try {
    const parts = settings.shuffled && (await loadShuffled());
    requests.check();
    const { maker, reporter, ...overrides }: SessionOverrides =
      parts?.overrides(settings, requests) ?? {};
    const own = { ...settings, fetch: requests.fetch, ...overrides };
    const { url, id, fetch } = own;
    const { task, fingerprint: stated }: { task: AnyTask; fingerprint?: string } = settings.task
      ? { task: settings.task }
      : await requests.retry(() => fetchTask(url, id, fetch));
    requests.check();
    checkBudget(task, settings);
    // Opened in parallel with the engine: each takes about 20 ms in a page that has just loaded.
    storing = storeOf(settings);
    // The promise may reject before it is awaited, which must not count as an unhandled rejection.
    storing.catch(() => {});
    engine = await (maker?.() ?? createEngine(task as Task, stated !== undefined));
    const { fingerprint } = engine;
    // The fingerprint must match the pinned one, and the one that the collector states.
    for (const pin of [settings.fingerprint, stated]) {
      if ((pin ?? fingerprint) !== fingerprint) {
        throw new TaskError(
          "fingerprint-mismatch",
          `task ${task.id} has the fingerprint ${fingerprint}, expected ${pin}`,
        );
      }
    }
    const store = await storing;
    requests.check();
    // Reports of earlier pages are sent in the meantime.
    const session = new Session(own, requests, engine, store, changed);
    session.reporter = await reporter?.(engine);
    requests.check();
    opened(session);
    return session;
  } catch (error) {
    const { stopped } = requests;
    requests.stop();
    engine?.free();
    storing?.then((store) => store.close()).catch(() => {});
    throw stopped ? new ClosedError("client") : error;
  }
}
