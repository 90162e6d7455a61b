/** Store in the browser's database. It outlives the page, and all tabs share it. */

import { type Ledger, newLedger } from "../budget.js";
import { StorageError } from "../errors.js";
import { onPageCache } from "../page.js";
import { TIMEOUT_MS } from "../time.js";
import {
  type LedgerChange,
  MAX_SETTLED,
  type ReportState,
  type Store,
  type StoredReport,
} from "./store.js";

/** Maximum number of changes in one transaction, so that no page blocks other pages for long. */
const MAX_CHANGES = 1000;

const DATABASE = "hushbin";
/**
 * Version of the database's schema. A release that only adds fields keeps it, because rows are
 * written back with all fields. A new number is needed only for data that this release would
 * misread.
 */
const VERSION = 1;
const LEDGERS = "ledgers";
const REPORTS = "reports";
/** Index of reports by task and state. */
const BY_STATE = "state";

/** Row of a report. Its key is not part of the row. */
type Row = Omit<StoredReport, "key"> & { readonly task: string };

/**
 * Awaits a request.
 *
 * @throws DOMException
 */
export function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function completionOf(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(new StorageError(transaction.error));
  });
}

/**
 * Opens the database.
 *
 * @throws DOMException if there is no database, or none that may be used
 * @throws StorageError if the database does not respond, which happens in some browsers, or has a
 * later version
 */
async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(LEDGERS);
    const reports = request.result.createObjectStore(REPORTS, { autoIncrement: true });
    reports.createIndex(BY_STATE, ["task", "state"]);
  };
  const opened = resultOf(request);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      const silent = new StorageError(new Error("the database does not answer"));
      timer = setTimeout(() => reject(silent), TIMEOUT_MS);
    });
    return await Promise.race([opened, late]);
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

/** Change of the ledger that waits for its transaction. */
interface PendingChange {
  readonly change: (ledger: Ledger) => LedgerChange<unknown>;
  readonly resolve: (changed: readonly [unknown, StoredReport | undefined]) => void;
  readonly reject: (error: unknown) => void;
}

export class IndexedStore implements Store {
  readonly durable = true;
  readonly #database: IDBDatabase;
  readonly #task: string;
  readonly #unlisten: () => void;
  /** Transactions in progress. */
  readonly #openTransactions = new Set<IDBTransaction>();
  /** Functions that interrupt waiting for a transaction when the page is left. */
  readonly #interrupts = new Set<() => void>();
  #pending: PendingChange[] = [];
  #changing = false;
  /** Resolves when the page returns. Undefined unless the page is left and kept for its return. */
  #pageReturned: Promise<void> | undefined;

  private constructor(database: IDBDatabase, task: string) {
    this.#database = database;
    this.#task = task;
    // Otherwise a page with a later version could not open the database while this page lives.
    database.onversionchange = () => database.close();
    let tellBack = () => {};
    this.#unlisten = onPageCache(
      () => {
        this.#pageReturned = new Promise((resolve) => {
          tellBack = resolve;
        });
        this.#interrupts.forEach((interrupt) => void interrupt());
        this.#abort();
      },
      () => {
        this.#pageReturned = undefined;
        tellBack();
      },
    );
  }

  /**
   * Opens the store of a task.
   *
   * @param task key of the task's ledger: its URL
   * @throws unknown if there is no database, or none that may be used
   * @throws StorageError if the database does not respond
   */
  static async open(task: string): Promise<IndexedStore> {
    return new IndexedStore(await openDatabase(), task);
  }

  /** Returns whether the database exists; true if the browser cannot list databases. */
  static async exists(): Promise<boolean> {
    const all = await indexedDB.databases?.();
    return all === undefined || all.some(({ name }) => name === DATABASE);
  }

  ledger(): Promise<Ledger> {
    return this.#retryIfLeft(async () => {
      const [ledgers] = this.#begin("readonly", LEDGERS);
      return (await this.#resultOf<Ledger | undefined>(ledgers.get(this.#task))) ?? newLedger();
    });
  }

  change<R>(
    change: (ledger: Ledger) => LedgerChange<R>,
  ): Promise<readonly [R, StoredReport | undefined]> {
    return new Promise((resolve, reject) => {
      // The promise resolves with the result of this change, so the types agree.
      const pending = { change, resolve: resolve as PendingChange["resolve"], reject };
      this.#pending.push(pending);
      void this.#applyPending();
    });
  }

  /** Makes the waiting changes, many in one transaction. */
  async #applyPending(): Promise<void> {
    if (this.#changing) {
      return;
    }
    this.#changing = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, MAX_CHANGES);
      try {
        const settle = await this.#retryIfLeft(() => this.#applyBatch(batch));
        settle.forEach((tell) => void tell());
      } catch (error) {
        // Nothing was stored, and the drawn reports are discarded.
        batch.forEach(({ reject }) => void reject(error));
      }
    }
    this.#changing = false;
  }

  /**
   * Makes changes in one transaction.
   *
   * @returns functions that settle the promise of each change
   * @throws StorageError; in this case nothing is stored
   */
  async #applyBatch(batch: readonly PendingChange[]): Promise<(() => void)[]> {
    const [ledgers, reports, all] = this.#begin("readwrite", LEDGERS, REPORTS);
    const tell: (() => void)[] = [];
    const read: IDBRequest<Ledger | undefined> = ledgers.get(this.#task);
    let failure: unknown;
    read.onsuccess = () => {
      // Everything here is synchronous: a transaction ends as soon as it has no open request.
      let ledger = read.result ?? newLedger();
      try {
        for (const pending of batch) {
          ledger = this.#applyChange(pending, ledger, reports, tell);
        }
        ledgers.put(ledger, this.#task);
      } catch (cause) {
        failure = cause;
        reports.transaction.abort();
      }
    };
    try {
      await all;
    } catch (error) {
      throw failure === undefined ? error : new StorageError(failure);
    }
    return tell;
  }

  /** Returns the ledger after a change, or the unchanged ledger if the change throws. */
  #applyChange(
    { change, resolve, reject }: PendingChange,
    before: Ledger,
    reports: IDBObjectStore,
    tell: (() => void)[],
  ): Ledger {
    let changed: LedgerChange<unknown>;
    try {
      changed = change(before);
    } catch (error) {
      tell.push(() => reject(error));
      return before;
    }
    const { ledger, made, result } = changed;
    if (made === undefined) {
      tell.push(() => resolve([result, undefined]));
      return ledger;
    }
    const row: Row = { ...made, task: this.#task };
    const added = reports.add(row);
    // `added.result` is the key. It is known once the transaction is complete, when this runs.
    tell.push(() => resolve([result, { ...made, key: Number(added.result) }]));
    return { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
  }

  waiting(): Promise<readonly StoredReport[]> {
    return this.#retryIfLeft(() => this.#rows(IDBKeyRange.only([this.#task, "waiting"])));
  }

  async history(): Promise<readonly StoredReport[]> {
    const range = IDBKeyRange.bound([this.#task], [this.#task, []]);
    const rows = await this.#retryIfLeft(() => this.#rows(range));
    return rows.sort((one, other) => one.key - other.key);
  }

  settle(keys: readonly number[], state: ReportState): Promise<void> {
    return this.#retryIfLeft(() => this.#settleRows(keys, state));
  }

  async #settleRows(keys: readonly number[], state: ReportState): Promise<void> {
    const [ledgers, reports, all] = this.#begin("readwrite", LEDGERS, REPORTS);
    let settled = 0;
    for (const key of keys) {
      const found: IDBRequest<Row | undefined> = reports.get(key);
      found.onsuccess = () => {
        const row = found.result;
        // Another tab may have recorded a state already.
        if (row?.state === "waiting") {
          settled += row.bytes.length;
          reports.put({ ...row, state }, key);
        }
      };
    }
    // Requested last: by then all rows are read, and all changes of them are queued.
    const read: IDBRequest<Ledger | undefined> = ledgers.get(this.#task);
    read.onsuccess = () => {
      if (read.result !== undefined) {
        const waitingBytes = read.result.waitingBytes - settled;
        ledgers.put({ ...read.result, waitingBytes }, this.#task);
      }
      this.#deleteOldest(reports);
    };
    await all;
  }

  /** Deletes the oldest settled reports if there are more than {@link MAX_SETTLED}. */
  #deleteOldest(reports: IDBObjectStore): void {
    const index = reports.index(BY_STATE);
    const settled = (["acknowledged", "refused", "withdrawn"] as const).map((state) =>
      index.getAllKeys(IDBKeyRange.only([this.#task, state])),
    );
    // Requests of a transaction complete in order, so all are done when the last one is.
    const last = settled.at(-1);
    if (last !== undefined) {
      last.onsuccess = () => {
        const keys = settled.flatMap(({ result }) => result as number[]).sort((a, b) => a - b);
        keys.slice(0, -MAX_SETTLED).forEach((key) => void reports.delete(key));
      };
    }
  }

  /** Returns the reports in a range of the index, each with its key. */
  async #rows(range: IDBKeyRange): Promise<StoredReport[]> {
    const [reports] = this.#begin("readonly", REPORTS);
    const index = reports.index(BY_STATE);
    const [rows, keys] = await Promise.all([
      this.#resultOf<Row[]>(index.getAll(range)),
      this.#resultOf(index.getAllKeys(range)),
    ]);
    return rows.map((row, at) => ({ ...row, key: Number(keys[at]) }));
  }

  async #resultOf<T>(request: IDBRequest<T>): Promise<T> {
    try {
      return await resultOf(request);
    } catch (cause) {
      throw new StorageError(cause);
    }
  }

  /**
   * Runs `work`, which uses a transaction. If the page was left and kept in the meantime, runs it
   * again once the page is back.
   *
   * WebKit stops a transaction of such a page, which blocks those of all other pages. Firefox never
   * reports the result of such a transaction.
   */
  async #retryIfLeft<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#pageReturned !== undefined) {
        await this.#pageReturned;
      }
      let interrupt = () => {};
      const left = new Promise<undefined>((resolve) => {
        interrupt = () => resolve(undefined);
      });
      this.#interrupts.add(interrupt);
      try {
        const done = await Promise.race([work().then((result) => ({ result })), left]);
        if (done !== undefined) {
          return done.result;
        }
      } finally {
        this.#interrupts.delete(interrupt);
      }
    }
  }

  #abort(): void {
    for (const transaction of this.#openTransactions) {
      try {
        transaction.abort();
      } catch {
        // The transaction is already being stored. Running it again has no further effect.
      }
    }
  }

  /**
   * Begins a transaction.
   *
   * @returns its object stores, then for `readwrite` a promise that resolves when it is complete
   */
  #begin(mode: "readonly", ...stores: [string]): [IDBObjectStore];
  #begin(
    mode: "readwrite",
    ...stores: [string, string]
  ): [IDBObjectStore, IDBObjectStore, Promise<void>];
  #begin(mode: IDBTransactionMode, ...stores: string[]): unknown[] {
    try {
      // Relaxed: the operating system decides when data reach the disk. A crash of the browser
      // loses nothing. A power cut may lose the last seconds.
      const transaction = this.#database.transaction(stores, mode, { durability: "relaxed" });
      const over = () => void this.#openTransactions.delete(transaction);
      transaction.addEventListener("complete", over);
      transaction.addEventListener("abort", over);
      this.#openTransactions.add(transaction);
      const own = stores.map((name) => transaction.objectStore(name));
      return mode === "readonly" ? own : [...own, completionOf(transaction)];
    } catch (cause) {
      throw new StorageError(cause);
    }
  }

  close(): void {
    this.#unlisten();
    this.#database.close();
  }
}
