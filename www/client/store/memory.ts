/** Store in memory. It lives as long as the page, and applies changes at once. */

import {
  type CollectorCharges,
  emptyLedger,
  type Ledger,
  type LedgerPair,
  ledgerAfterRevocation,
} from "../budget.js";
import {
  type LedgerChange,
  MAX_SETTLED,
  type ReportState,
  type Store,
  type StoredReport,
} from "./store.js";

/** Ledger of all tasks of a collector. The stores of these tasks share it. */
export interface SharedCharges {
  charges: CollectorCharges;
}

export class MemoryStore implements Store {
  readonly durable = false;
  readonly #reports = new Map<number, StoredReport>();
  readonly #shared: SharedCharges;
  #ledger: Ledger = emptyLedger();
  #keys = 0;

  constructor(shared: SharedCharges = { charges: [] }) {
    this.#shared = shared;
  }

  async ledgers(): Promise<LedgerPair> {
    return this.#ledgers;
  }

  get #ledgers(): LedgerPair {
    return { ledger: this.#ledger, charges: this.#shared.charges };
  }

  async change<R>(
    change: (before: LedgerPair) => LedgerChange<R>,
  ): Promise<readonly [R, StoredReport | undefined]> {
    const { ledger, charges, made, result } = change(this.#ledgers);
    this.#ledger = ledger;
    this.#shared.charges = charges;
    if (made === undefined) {
      return [result, undefined];
    }
    this.#keys += 1;
    const stored = { ...made, key: this.#keys };
    this.#reports.set(stored.key, stored);
    this.#ledger = { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
    return [result, stored];
  }

  async waiting(): Promise<readonly StoredReport[]> {
    return [...this.#reports.values()].filter(({ state }) => state === "waiting");
  }

  async settle(keys: Iterable<number>, state: ReportState): Promise<void> {
    for (const key of keys) {
      const report = this.#reports.get(key);
      if (report?.state === "waiting") {
        this.#reports.set(key, { ...report, state });
        const waitingBytes = this.#ledger.waitingBytes - report.bytes.length;
        this.#ledger = { ...this.#ledger, waitingBytes };
      }
    }
    for (const { key, state: kept } of this.#reports.values()) {
      if (this.#reports.size <= MAX_SETTLED) {
        break;
      }
      if (kept !== "waiting") {
        this.#reports.delete(key);
      }
    }
  }

  withdraw(): Promise<void> {
    this.#ledger = ledgerAfterRevocation(this.#ledger);
    return this.settle(this.#reports.keys(), "withdrawn");
  }

  async history(): Promise<readonly StoredReport[]> {
    return [...this.#reports.values()];
  }

  close(): void {}
}
