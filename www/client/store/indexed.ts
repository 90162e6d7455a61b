/** Store in the browser's database. It outlives the page. All tabs share it. */

import {
  type CollectorCharges,
  emptyLedger,
  ledgerAfterRevocation,
  type TaskAndCollectorLedgers,
  type TaskLedger,
} from "../budget.js";
import { StorageError } from "../errors.js";
import { onPageCacheChange } from "../page.js";
import { TIMEOUT_MS } from "../time.js";
import {
  type LedgerChangeResult,
  MAX_SETTLED,
  type NewReport,
  type ReportState,
  type ReportWithKey,
  type Store,
} from "./store.js";

/**
 * Maximum number of changes in one transaction, so that no page blocks other pages for a long time.
 */
const MAX_CHANGES = 1000;

const DATABASE = "hushbin";
/**
 * Version of the database's schema. A release that only adds fields keeps the version, because this
 * release keeps unknown fields when it writes a row. A new version is needed only for data that
 * this release would misread.
 */
const SCHEMA_VERSION = 1;
/**
 * Name of the object store of ledgers. The URL of a task or of a collector is the key of its
 * ledger.
 */
const LEDGER_STORE_NAME = "ledgers";
const REPORT_STORE_NAME = "reports";
/** Name of the index that finds reports by task and state. */
const STATE_INDEX_NAME = "state";

/** Row of the object store of reports. The key of a report is not part of its row. */
type ReportRow = Omit<ReportWithKey, "key"> & { readonly task: string };

/**
 * Waits for a request of the database.
 *
 * @throws DOMException
 */
export function requestResult<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function transactionCompletion(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(new StorageError(transaction.error));
  });
}

/**
 * Opens the database, and creates it if there is none.
 *
 * @throws DOMException if the browser has no database, or does not allow its use
 * @throws StorageError if the database does not respond, as in some browsers, or has a later
 * version
 */
async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, SCHEMA_VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(LEDGER_STORE_NAME);
    const reports = request.result.createObjectStore(REPORT_STORE_NAME, { autoIncrement: true });
    reports.createIndex(STATE_INDEX_NAME, ["task", "state"]);
  };
  const opened = requestResult(request);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      const silent = new StorageError(new Error("the database does not answer"));
      timer = setTimeout(() => reject(silent), TIMEOUT_MS);
    });
    const database = await Promise.race([opened, late]);
    // Otherwise a page with a later version could not open the database while this page lives.
    database.onversionchange = () => database.close();
    return database;
  } catch (error) {
    opened.then(
      (database) => database.close(),
      () => {},
    );
    // The database has a later version and contains what was spent. Going on in memory would spend
    // it again.
    throw (error as Error).name === "VersionError" ? new StorageError(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Change of the ledgers that waits for its transaction. */
interface PendingChange {
  readonly change: (before: TaskAndCollectorLedgers) => LedgerChangeResult<unknown>;
  readonly isStrict: boolean;
  readonly resolve: (changed: readonly [unknown, ReportWithKey | undefined]) => void;
  readonly reject: (error: unknown) => void;
}

/** Function that returns the key of a report that was added to the database. */
type ReportKeyFinder = (made: NewReport, added: IDBRequest<IDBValidKey>) => number;

/** Reports that a transaction has added, and the results for the callers. */
interface TransactionAttempt {
  /** Reports that the transaction has added. */
  readonly addedReports: NewReport[];
  /** Functions that settle the promises of the changes. They need the keys of the added reports. */
  readonly promiseSettlers: ((keyOf: ReportKeyFinder) => void)[];
}

export class IndexedStore implements Store {
  readonly durable = true;
  readonly #taskLedgerKey: string;
  readonly #collectorLedgerKey: string;
  #database: IDBDatabase;
  #closed = false;
  readonly #stopPageListeners: () => void;
  /** Transactions that are in progress. */
  readonly #openTransactions = new Set<IDBTransaction>();
  /** Functions that stop waiting for a transaction when the page is left. */
  readonly #pageLeaveInterrupts = new Set<() => void>();
  #pending: PendingChange[] = [];
  #isApplyingChanges = false;
  /**
   * Resolves when the page returns. Defined only while the page is left and the browser keeps it.
   */
  #pageReturned: Promise<void> | undefined;
  #resolvePageReturned = () => {};

  private constructor(database: IDBDatabase, task: string, collector: string) {
    this.#database = database;
    this.#taskLedgerKey = task;
    this.#collectorLedgerKey = collector;
    this.#stopPageListeners = onPageCacheChange(
      () => {
        this.#pageReturned = new Promise((resolve) => {
          this.#resolvePageReturned = resolve;
        });
        this.#pageLeaveInterrupts.forEach((interrupt) => void interrupt());
        this.#abortOpenTransactions();
      },
      () => {
        this.#pageReturned = undefined;
        this.#resolvePageReturned();
      },
    );
  }

  /**
   * Opens the store of a task.
   *
   * @param task key of the task's ledger: its URL
   * @param collector key of the ledger of all tasks: the collector's URL
   * @throws unknown if the browser has no database, or does not allow its use
   * @throws StorageError if the database does not respond
   */
  static async open(task: string, collector: string): Promise<IndexedStore> {
    return new IndexedStore(await openDatabase(), task, collector);
  }

  /** Returns whether the database exists. Returns true if the browser cannot list its databases. */
  static async exists(): Promise<boolean> {
    const all = await indexedDB.databases?.();
    return all === undefined || all.some(({ name }) => name === DATABASE);
  }

  async readLedgers(): Promise<TaskAndCollectorLedgers> {
    const [ledgers] = await this.changeLedgers((before) => ({ ...before, result: before }));
    return ledgers;
  }

  changeLedgers<R>(
    change: (before: TaskAndCollectorLedgers) => LedgerChangeResult<R>,
    isStrict = false,
  ): Promise<readonly [R, ReportWithKey | undefined]> {
    return new Promise((resolve, reject) => {
      // The promise resolves with the result of this change, so the types agree.
      const pending = { change, isStrict, resolve: resolve as PendingChange["resolve"], reject };
      this.#pending.push(pending);
      void this.#applyPending();
    });
  }

  /** Range of the index that contains the waiting reports of the task. */
  get #waitingRange(): IDBKeyRange {
    return IDBKeyRange.only([this.#taskLedgerKey, "waiting"]);
  }

  /** Range of the index that contains all reports of the task. */
  get #allReportsRange(): IDBKeyRange {
    return IDBKeyRange.bound([this.#taskLedgerKey], [this.#taskLedgerKey, []]);
  }

  /** Applies all pending changes, many of them in one transaction. */
  async #applyPending(): Promise<void> {
    if (this.#isApplyingChanges) {
      return;
    }
    this.#isApplyingChanges = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, MAX_CHANGES);
      let attempt: TransactionAttempt | undefined;
      try {
        const keyOf = await this.#runWithRetry(async () => {
          const stored = attempt && (await this.#keyFinderIfStored(attempt));
          if (stored) {
            return stored;
          }
          attempt = { addedReports: [], promiseSettlers: [] };
          return this.#applyBatch(batch, attempt);
        });
        attempt?.promiseSettlers.forEach((tell) => void tell(keyOf));
      } catch (error) {
        // Nothing was stored, and the drawn reports are discarded.
        batch.forEach(({ reject }) => void reject(error));
      }
    }
    this.#isApplyingChanges = false;
  }

  /**
   * Returns a function that finds the keys of an attempt's reports. Returns undefined if the
   * attempt was not stored. If the page was left, it may not have learned that the attempt was
   * stored. Running the attempt again would report the same answers twice.
   */
  async #keyFinderIfStored({
    addedReports: [first],
  }: TransactionAttempt): Promise<ReportKeyFinder | undefined> {
    const rows = first ? await this.#readRows(this.#allReportsRange) : [];
    const find = ({ bytes }: NewReport) =>
      rows.find((row) => String(row.bytes) === String(bytes))?.key;
    return first && find(first) !== undefined ? (made) => Number(find(made)) : undefined;
  }

  /**
   * Applies changes in one transaction.
   *
   * @param attempt receives the added reports and the results
   * @throws StorageError; in this case nothing is stored
   */
  async #applyBatch(
    batch: readonly PendingChange[],
    attempt: TransactionAttempt,
  ): Promise<ReportKeyFinder> {
    const [ledgers, reports] = this.#beginTransaction(
      "readwrite",
      batch.some(({ isStrict }) => isStrict),
    );
    const first: IDBRequest<TaskLedger | undefined> = ledgers.get(this.#taskLedgerKey);
    const last: IDBRequest<CollectorCharges | undefined> = ledgers.get(this.#collectorLedgerKey);
    let failure: unknown;
    // Requests of a transaction complete in order.
    last.onsuccess = () => {
      // Everything here is synchronous: a transaction ends as soon as it has no open request.
      const { result: ledger = emptyLedger() } = first;
      const { result: charges = [] } = last;
      let now: TaskAndCollectorLedgers = { taskLedger: ledger, collectorCharges: charges };
      try {
        for (const pending of batch) {
          now = this.#applyChange(pending, now, reports, attempt);
        }
        if (now.taskLedger !== ledger) {
          ledgers.put(now.taskLedger, this.#taskLedgerKey);
        }
        if (now.collectorCharges !== charges) {
          ledgers.put(now.collectorCharges, this.#collectorLedgerKey);
        }
      } catch (cause) {
        failure = cause;
        reports.transaction.abort();
      }
    };
    try {
      await transactionCompletion(reports.transaction);
    } catch (error) {
      throw failure === undefined ? error : new StorageError(failure);
    }
    // The key is known once the transaction is complete.
    return (_, added) => Number(added.result);
  }

  /**
   * Applies a change to the ledgers `before`. Returns the new ledgers, or `before` if the change
   * throws.
   */
  #applyChange(
    { change, resolve, reject }: PendingChange,
    before: TaskAndCollectorLedgers,
    reports: IDBObjectStore,
    { addedReports: all, promiseSettlers: tell }: TransactionAttempt,
  ): TaskAndCollectorLedgers {
    let changed: LedgerChangeResult<unknown>;
    try {
      changed = change(before);
    } catch (error) {
      tell.push(() => reject(error));
      return before;
    }
    const { taskLedger: ledger, collectorCharges: charges, newReport: made, result } = changed;
    if (made === undefined) {
      tell.push(() => resolve([result, undefined]));
      return changed;
    }
    const row: ReportRow = { ...made, task: this.#taskLedgerKey };
    const added = reports.add(row);
    all.push(made);
    tell.push((keyOf) => resolve([result, { ...made, key: keyOf(made, added) }]));
    const waitingBytes = ledger.waitingBytes + made.bytes.length;
    return { taskLedger: { ...ledger, waitingBytes }, collectorCharges: charges };
  }

  readWaitingReports(): Promise<readonly ReportWithKey[]> {
    return this.#runWithRetry(() => this.#readRows(this.#waitingRange));
  }

  async readAllReports(): Promise<readonly ReportWithKey[]> {
    const rows = await this.#runWithRetry(() => this.#readRows(this.#allReportsRange));
    return rows.sort((one, other) => one.key - other.key);
  }

  setFinalState(keys: readonly number[], state: ReportState): Promise<void> {
    const wanted = new Set(keys);
    return this.#runWithRetry(() => this.#setRowStates((key) => wanted.has(key), state, false));
  }

  withdrawReportsAndConsent(): Promise<void> {
    return this.#runWithRetry(() => this.#setRowStates(() => true, "withdrawn", true));
  }

  async #setRowStates(
    isWanted: (key: number) => boolean,
    state: ReportState,
    revokes: boolean,
  ): Promise<void> {
    const [ledgers, reports] = this.#beginTransaction("readwrite");
    const index = reports.index(STATE_INDEX_NAME);
    const waiting = index.getAllKeys(this.#waitingRange);
    waiting.onsuccess = () => {
      // Another tab may have recorded the state of some reports already.
      const keys = (waiting.result as number[]).filter(isWanted);
      if (keys.length === 0 && !revokes) {
        return;
      }
      let bytes = 0;
      for (const key of keys) {
        const found: IDBRequest<ReportRow> = reports.get(key);
        found.onsuccess = () => {
          bytes += found.result.bytes.length;
          reports.put({ ...found.result, state }, key);
        };
      }
      // Requested last: by then all rows are read, and all changes of them are queued.
      const read: IDBRequest<TaskLedger | undefined> = ledgers.get(this.#taskLedgerKey);
      read.onsuccess = () => {
        const ledger = read.result ?? emptyLedger();
        const after = { ...ledger, waitingBytes: ledger.waitingBytes - bytes };
        ledgers.put(revokes ? ledgerAfterRevocation(after) : after, this.#taskLedgerKey);
      };
      // Delete the oldest settled reports if there are more than are remembered.
      const left = new Set((waiting.result as number[]).filter((key) => !isWanted(key)));
      const known = index.getAllKeys(this.#allReportsRange);
      known.onsuccess = () => {
        const settled = (known.result as number[]).filter((key) => !left.has(key));
        settled.sort((one, other) => one - other);
        settled.slice(0, -MAX_SETTLED).forEach((key) => void reports.delete(key));
      };
    };
    await transactionCompletion(reports.transaction);
  }

  /** Returns the reports in a range of the index, each with its key. */
  async #readRows(range: IDBKeyRange): Promise<ReportWithKey[]> {
    const [, reports] = this.#beginTransaction("readonly");
    const index = reports.index(STATE_INDEX_NAME);
    const [rows, keys] = await Promise.all([
      this.#databaseRequestResult<ReportRow[]>(index.getAll(range)),
      this.#databaseRequestResult(index.getAllKeys(range)),
    ]);
    return rows.map((row, at) => ({ ...row, key: Number(keys[at]) }));
  }

  async #databaseRequestResult<T>(request: IDBRequest<T>): Promise<T> {
    try {
      return await requestResult(request);
    } catch (cause) {
      throw new StorageError(cause);
    }
  }

  /**
   * Runs `work`, which uses a transaction. If the page was left in the meantime and is now back,
   * runs it again. If the database failed, opens the database again and runs `work` once more.
   *
   * WebKit stops a transaction of a page that was left, which blocks the transactions of all other
   * pages. Firefox never reports the result of such a transaction. Connections are lost when the
   * browser or the page deletes the database, and when WebKit cleans up a tab in the background.
   */
  async #runWithRetry<T>(work: () => Promise<T>): Promise<T> {
    for (let again = true; ; ) {
      if (this.#pageReturned !== undefined) {
        await this.#pageReturned;
      }
      const database = this.#database;
      let interrupt = () => {};
      const left = new Promise<undefined>((resolve) => {
        interrupt = () => resolve(undefined);
      });
      this.#pageLeaveInterrupts.add(interrupt);
      try {
        const done = await Promise.race([work().then((result) => ({ result })), left]);
        if (done !== undefined) {
          return done.result;
        }
      } catch (error) {
        if (!again) {
          throw error;
        }
        again = false;
        await this.#reopen(database, error);
      } finally {
        this.#pageLeaveInterrupts.delete(interrupt);
      }
    }
  }

  /**
   * Replaces the failed connection by a new one, unless this has already been done.
   *
   * @throws StorageError if the store was closed, or the database cannot be opened
   */
  async #reopen(failed: IDBDatabase, error: unknown): Promise<void> {
    if (this.#closed) {
      throw error;
    }
    if (this.#database !== failed) {
      return;
    }
    failed.close();
    let database: IDBDatabase;
    try {
      database = await openDatabase();
    } catch (cause) {
      throw cause instanceof StorageError ? cause : error;
    }
    if (this.#closed || this.#database !== failed) {
      database.close();
    } else {
      this.#database = database;
    }
  }

  #abortOpenTransactions(): void {
    for (const transaction of this.#openTransactions) {
      try {
        transaction.abort();
      } catch {
        // The transaction is already being stored.
      }
    }
  }

  /**
   * Begins a transaction of the database.
   *
   * @param isStrict true if a change must survive a power cut once it is complete. Otherwise, the
   * operating system decides when data reach the disk. A crash of the browser loses nothing
   */
  #beginTransaction(
    mode: IDBTransactionMode,
    isStrict = false,
  ): readonly [ledgers: IDBObjectStore, reports: IDBObjectStore] {
    try {
      const transaction = this.#database.transaction([LEDGER_STORE_NAME, REPORT_STORE_NAME], mode, {
        durability: isStrict ? "strict" : "relaxed",
      });
      const over = () => void this.#openTransactions.delete(transaction);
      transaction.addEventListener("complete", over);
      transaction.addEventListener("abort", over);
      this.#openTransactions.add(transaction);
      return [
        transaction.objectStore(LEDGER_STORE_NAME),
        transaction.objectStore(REPORT_STORE_NAME),
      ];
    } catch (cause) {
      throw new StorageError(cause);
    }
  }

  close(): void {
    this.#closed = true;
    this.#stopPageListeners();
    this.#resolvePageReturned();
    this.#database.close();
  }
}
