/** Store in memory. It lives as long as the page and applies changes at once. */

import { type Ledger, newLedger } from "../budget.js";
import { type Change, REMEMBERED, type ReportState, type Store, type Stored } from "./store.js";

export class MemoryStore implements Store {
  readonly durable = false;
  readonly #reports = new Map<number, Stored>();
  #ledger: Ledger = newLedger();
  #keys = 0;

  async ledger(): Promise<Ledger> {
    return this.#ledger;
  }

  async change<R>(
    change: (ledger: Ledger) => Change<R>,
  ): Promise<readonly [R, Stored | undefined]> {
    const { ledger, made, result } = change(this.#ledger);
    this.#ledger = ledger;
    if (made === undefined) {
      return [result, undefined];
    }
    this.#keys += 1;
    const stored = { ...made, key: this.#keys };
    this.#reports.set(stored.key, stored);
    this.#ledger = { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
    return [result, stored];
  }

  async waiting(): Promise<readonly Stored[]> {
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
      if (this.#reports.size <= REMEMBERED) {
        break;
      }
      if (kept !== "waiting") {
        this.#reports.delete(key);
      }
    }
  }

  async history(): Promise<readonly Stored[]> {
    return [...this.#reports.values()];
  }

  close(): void {}
}
