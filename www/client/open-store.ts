/** Opening of the store of a client, and the store of browsers without a database. */

import { emptyLedger } from "./budget.js";
import { StorageError } from "./errors.js";
import { loadExtras } from "./loaders.js";
import type { ClientSettings } from "./options.js";
import { IndexedStore } from "./store/indexed.js";
import type { Store } from "./store/store.js";

const resolveEmptyList = async () => [];

/**
 * Store for browsers without a database. It is empty and stores nothing, and sessions make no
 * report with it.
 */
export const EMPTY_STORE = {
  durable: false,
  readLedgers: async () => ({ taskLedger: emptyLedger(), collectorCharges: [] }),
  readWaitingReports: resolveEmptyList,
  withdrawReportsAndConsent: async () => {},
  readAllReports: resolveEmptyList,
  close: () => {},
  // A session asks for nothing else if its store does not last.
} satisfies Partial<Store> as unknown as Store;

/**
 * Opens the store of a task's budget and reports.
 *
 * @param create whether to create a database if there is none. If not, the result is then an empty
 * store
 * @throws StorageError if the database does not respond
 * @throws WasmError if the store in memory is needed and cannot be loaded
 */
export async function openStore(settings: ClientSettings, create = true): Promise<Store> {
  const { storage, dryRun, taskLedgerKey: ledger, collectorLedgerKey: collector } = settings;
  // A dry run must not change the real ledger.
  if (storage !== "memory" && !dryRun) {
    try {
      if (create || (await IndexedStore.exists())) {
        return await IndexedStore.open(ledger, collector);
      }
    } catch (error) {
      if (error instanceof StorageError) {
        // The database exists and contains what was spent. In memory, this would be spent again.
        throw error;
      }
      // A database that exists contains what was spent, and reports that may have to be withdrawn.
      if (await IndexedStore.exists().catch(() => false)) {
        throw new StorageError(error);
      }
      // There is no database, or it may not be used here.
      return storage === "device" ? EMPTY_STORE : (await loadExtras()).sharedMemory(settings);
    }
    return EMPTY_STORE;
  }
  return (await loadExtras()).ownMemory(settings);
}
