/** Store in memory. It lives as long as the page and applies changes at once. */

import { type Ledger, newLedger } from "../budget.js";
import {
  type LedgerChange,
  MAX_SETTLED,
  type ReportState,
  type Store,
  type StoredReport,
} from "./store.js";

export class MemoryStore implements Store {
  readonly durable = false;
  readonly #reports = new Map<number, StoredReport>();
  #ledger: Ledger = newLedger();
  #lastKey = 0;

  async ledger(): Promise<Ledger> {
    return this.#ledger;
  }

  async change<R>(
    change: (ledger: Ledger) => LedgerChange<R>,
  ): Promise<readonly [R, StoredReport | undefined]> {
    const { ledger, made, result } = change(this.#ledger);
    this.#ledger = ledger;
    if (made === undefined) {
      return [result, undefined];
    }
    this.#lastKey += 1;
    const stored = { ...made, key: this.#lastKey };
    this.#reports.set(stored.key, stored);
    this.#ledger = { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
    return [result, stored];
  }

  async waiting(): Promise<readonly StoredReport[]> {
    return [...this.#reports.values()].filter(({ state }) => state === "waiting");
  }

  async settle(keys: readonly number[], state: ReportState): Promise<void> {
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

  async history(): Promise<readonly StoredReport[]> {
    return [...this.#reports.values()];
  }

  close(): void {}
}
