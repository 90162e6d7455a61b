/** A store in the browser's database, which outlives the page and is that of all tabs. */

import { type Ledger, newLedger } from "../budget.js";
import { StorageError } from "../errors.js";
import { onKept } from "../page.js";
import { TIMEOUT_MS } from "../time.js";
import { type Change, REMEMBERED, type ReportState, type Store, type Stored } from "./store.js";

/** Changes of one transaction, so that one page does not keep others waiting. */
const AT_ONCE = 1000;

const DATABASE = "hushbin";
/**
 * A version that adds to what is stored keeps this one, as what is read is written back with all
 * that it holds; another is for what this version would read as something else.
 */
const VERSION = 1;
const LEDGERS = "ledgers";
const REPORTS = "reports";
/** Reports by task and state. */
const BY_STATE = "state";

/** A report as it lies in the database, under a key that it does not hold itself. */
type Row = Omit<Stored, "key"> & { readonly task: string };

/** @throws DOMException */
export function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(new StorageError(transaction.error));
  });
}

/**
 * @throws DOMException where there is no database, or none that may be used
 * @throws StorageError where it does not answer: some never do; and where it is a later version's
 */
async function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(LEDGERS);
    const reports = request.result.createObjectStore(REPORTS, { autoIncrement: true });
    reports.createIndex(BY_STATE, ["task", "state"]);
  };
  const opened = done(request);
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
    // It is a later version's, and holds what was spent: memory is no place to go on in.
    throw (error as Error).name === "VersionError" ? new StorageError(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** A change that waits for its transaction. */
interface Pending {
  readonly change: (ledger: Ledger) => Change<unknown>;
  readonly resolve: (changed: readonly [unknown, Stored | undefined]) => void;
  readonly reject: (error: unknown) => void;
}

export class IndexedStore implements Store {
  readonly durable = true;
  readonly #database: IDBDatabase;
  readonly #task: string;
  readonly #unlisten: () => void;
  /** Transactions under way. */
  readonly #open = new Set<IDBTransaction>();
  /** Tell those who wait for them that the page is left. */
  readonly #interrupts = new Set<() => void>();
  #pending: Pending[] = [];
  #changing = false;
  /** While the page is left and kept for its return: when it is back. */
  #back: Promise<void> | undefined;

  private constructor(database: IDBDatabase, task: string) {
    this.#database = database;
    this.#task = task;
    // Else a later version could not be opened while this page lives.
    database.onversionchange = () => database.close();
    let tellBack = () => {};
    this.#unlisten = onKept(
      () => {
        this.#back = new Promise((resolve) => {
          tellBack = resolve;
        });
        this.#interrupts.forEach((interrupt) => void interrupt());
        this.#abort();
      },
      () => {
        this.#back = undefined;
        tellBack();
      },
    );
  }

  /**
   * @param task what the task's ledger goes by: its URL
   * @throws unknown where there is no database, or none that may be used
   * @throws StorageError where it does not answer
   */
  static async open(task: string): Promise<IndexedStore> {
    return new IndexedStore(await open(), task);
  }

  /** Whether there is a database; true where the browser does not tell. */
  static async exists(): Promise<boolean> {
    const all = await indexedDB.databases?.();
    return all === undefined || all.some(({ name }) => name === DATABASE);
  }

  ledger(): Promise<Ledger> {
    return this.#within(async () => {
      const [ledgers] = this.#begin("readonly", LEDGERS);
      return (await this.#asked<Ledger | undefined>(ledgers.get(this.#task))) ?? newLedger();
    });
  }

  change<R>(change: (ledger: Ledger) => Change<R>): Promise<readonly [R, Stored | undefined]> {
    return new Promise((resolve, reject) => {
      // What a change resolves with is what it returns.
      const pending = { change, resolve: resolve as Pending["resolve"], reject };
      this.#pending.push(pending);
      void this.#changeAll();
    });
  }

  /** Makes the changes that wait, many in one transaction. */
  async #changeAll(): Promise<void> {
    if (this.#changing) {
      return;
    }
    this.#changing = true;
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, AT_ONCE);
      try {
        const settle = await this.#within(() => this.#changed(batch));
        settle.forEach((tell) => void tell());
      } catch (error) {
        // Nothing of it is stored: what was drawn is forgotten.
        batch.forEach(({ reject }) => void reject(error));
      }
    }
    this.#changing = false;
  }

  /**
   * @returns what tells of each change what became of it
   * @throws StorageError; nothing is stored then
   */
  async #changed(batch: readonly Pending[]): Promise<(() => void)[]> {
    const [ledgers, reports, all] = this.#begin("readwrite", LEDGERS, REPORTS);
    const tell: (() => void)[] = [];
    const read: IDBRequest<Ledger | undefined> = ledgers.get(this.#task);
    let failure: unknown;
    read.onsuccess = () => {
      let ledger = read.result ?? newLedger();
      try {
        for (const pending of batch) {
          ledger = this.#changedBy(pending, ledger, reports, tell);
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

  /** The ledger after a change; the one before where the change throws. */
  #changedBy(
    { change, resolve, reject }: Pending,
    before: Ledger,
    reports: IDBObjectStore,
    tell: (() => void)[],
  ): Ledger {
    let changed: Change<unknown>;
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
    tell.push(() => resolve([result, { ...made, key: Number(added.result) }]));
    return { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
  }

  waiting(): Promise<readonly Stored[]> {
    return this.#within(() => this.#rows(IDBKeyRange.only([this.#task, "waiting"])));
  }

  async history(): Promise<readonly Stored[]> {
    const range = IDBKeyRange.bound([this.#task], [this.#task, []]);
    const rows = await this.#within(() => this.#rows(range));
    return rows.sort((one, other) => one.key - other.key);
  }

  settle(keys: readonly number[], state: ReportState): Promise<void> {
    return this.#within(() => this.#settled(keys, state));
  }

  async #settled(keys: readonly number[], state: ReportState): Promise<void> {
    const [ledgers, reports, all] = this.#begin("readwrite", LEDGERS, REPORTS);
    let settled = 0;
    for (const key of keys) {
      const found: IDBRequest<Row | undefined> = reports.get(key);
      found.onsuccess = () => {
        const row = found.result;
        // Another tab may have been told already.
        if (row?.state === "waiting") {
          settled += row.bytes.length;
          reports.put({ ...row, state }, key);
        }
      };
    }
    // Asked for last, so that all rows are read by then, and all changes asked for.
    const read: IDBRequest<Ledger | undefined> = ledgers.get(this.#task);
    read.onsuccess = () => {
      if (read.result !== undefined) {
        const waitingBytes = read.result.waitingBytes - settled;
        ledgers.put({ ...read.result, waitingBytes }, this.#task);
      }
      this.#forget(reports);
    };
    await all;
  }

  /** Deletes the oldest settled reports where more are there than are remembered. */
  #forget(reports: IDBObjectStore): void {
    const index = reports.index(BY_STATE);
    const settled = (["acknowledged", "refused", "withdrawn"] as const).map((state) =>
      index.getAllKeys(IDBKeyRange.only([this.#task, state])),
    );
    const last = settled.at(-1);
    if (last !== undefined) {
      last.onsuccess = () => {
        const keys = settled.flatMap(({ result }) => result as number[]).sort((a, b) => a - b);
        keys.slice(0, -REMEMBERED).forEach((key) => void reports.delete(key));
      };
    }
  }

  /** Reports of a range of the index, by their keys. */
  async #rows(range: IDBKeyRange): Promise<Stored[]> {
    const [reports] = this.#begin("readonly", REPORTS);
    const index = reports.index(BY_STATE);
    const [rows, keys] = await Promise.all([
      this.#asked<Row[]>(index.getAll(range)),
      this.#asked(index.getAllKeys(range)),
    ]);
    return rows.map((row, at) => ({ ...row, key: Number(keys[at]) }));
  }

  async #asked<T>(request: IDBRequest<T>): Promise<T> {
    try {
      return await done(request);
    } catch (cause) {
      throw new StorageError(cause);
    }
  }

  /**
   * Does work in a transaction; anew, once the page is back, where the page was left and kept
   * meanwhile. WebKit stops a transaction of such a page, and keeps those of all other pages
   * waiting for it; Firefox never tells what has become of it.
   */
  async #within<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#back !== undefined) {
        await this.#back;
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
    for (const transaction of this.#open) {
      try {
        transaction.abort();
      } catch {
        // It is being stored: done anew it changes nothing more.
      }
    }
  }

  /** @returns its stores, and when it is over */
  #begin(mode: "readonly", ...stores: [string]): [IDBObjectStore];
  #begin(
    mode: "readwrite",
    ...stores: [string, string]
  ): [IDBObjectStore, IDBObjectStore, Promise<void>];
  #begin(mode: IDBTransactionMode, ...stores: string[]): unknown[] {
    try {
      // Relaxed: on the disk when the operating system thinks fit, so that a crash of the
      // browser loses nothing, and a power cut the last seconds.
      const transaction = this.#database.transaction(stores, mode, { durability: "relaxed" });
      const over = () => void this.#open.delete(transaction);
      transaction.addEventListener("complete", over);
      transaction.addEventListener("abort", over);
      this.#open.add(transaction);
      const own = stores.map((name) => transaction.objectStore(name));
      return mode === "readonly" ? own : [...own, ended(transaction)];
    } catch (cause) {
      throw new StorageError(cause);
    }
  }

  close(): void {
    this.#unlisten();
    this.#database.close();
  }
}
