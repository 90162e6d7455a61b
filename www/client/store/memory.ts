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
  readonly #sharedCharges: SharedCharges;
  #ledger: Ledger = emptyLedger();
  #lastKey = 0;

  constructor(shared: SharedCharges = { charges: [] }) {
    this.#sharedCharges = shared;
  }

  async readLedgers(): Promise<LedgerPair> {
    return this.#ledgerPair;
  }

  get #ledgerPair(): LedgerPair {
    return { ledger: this.#ledger, charges: this.#sharedCharges.charges };
  }

  async changeLedgers<R>(
    changeLedgers: (before: LedgerPair) => LedgerChange<R>,
  ): Promise<readonly [R, StoredReport | undefined]> {
    const { ledger, charges, newReport: made, result } = changeLedgers(this.#ledgerPair);
    this.#ledger = ledger;
    this.#sharedCharges.charges = charges;
    if (made === undefined) {
      return [result, undefined];
    }
    this.#lastKey += 1;
    const stored = { ...made, key: this.#lastKey };
    this.#reports.set(stored.key, stored);
    this.#ledger = { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
    return [result, stored];
  }

  async readWaitingReports(): Promise<readonly StoredReport[]> {
    return [...this.#reports.values()].filter(({ state }) => state === "waiting");
  }

  async setFinalState(keys: Iterable<number>, state: ReportState): Promise<void> {
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

  withdrawReports(): Promise<void> {
    this.#ledger = ledgerAfterRevocation(this.#ledger);
    return this.setFinalState(this.#reports.keys(), "withdrawn");
  }

  async readAllReports(): Promise<readonly StoredReport[]> {
    return [...this.#reports.values()];
  }

  close(): void {}
}
