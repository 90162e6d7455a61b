/** Store in memory. It lives as long as the page, and applies changes at once. */

import {
  type CollectorCharges,
  emptyLedger,
  ledgerAfterRevocation,
  type TaskAndCollectorLedgers,
  type TaskLedger,
} from "../budget.js";
import {
  type LedgerChangeResult,
  MAX_SETTLED,
  type ReportState,
  type ReportWithKey,
  type Store,
} from "./store.js";

/** Ledger of all tasks of a collector. The stores of these tasks share it. */
export interface SharedCharges {
  charges: CollectorCharges;
}

export class MemoryStore implements Store {
  readonly durable = false;
  readonly #reports = new Map<number, ReportWithKey>();
  readonly #sharedCharges: SharedCharges;
  #taskLedger: TaskLedger = emptyLedger();
  #lastKey = 0;

  constructor(shared: SharedCharges = { charges: [] }) {
    this.#sharedCharges = shared;
  }

  async readLedgers(): Promise<TaskAndCollectorLedgers> {
    return this.#ledgerPair;
  }

  get #ledgerPair(): TaskAndCollectorLedgers {
    return { taskLedger: this.#taskLedger, collectorCharges: this.#sharedCharges.charges };
  }

  async changeLedgers<R>(
    changeLedgers: (before: TaskAndCollectorLedgers) => LedgerChangeResult<R>,
  ): Promise<readonly [R, ReportWithKey | undefined]> {
    const {
      taskLedger: ledger,
      collectorCharges: charges,
      newReport: made,
      result,
    } = changeLedgers(this.#ledgerPair);
    this.#taskLedger = ledger;
    this.#sharedCharges.charges = charges;
    if (made === undefined) {
      return [result, undefined];
    }
    this.#lastKey += 1;
    const stored = { ...made, key: this.#lastKey };
    this.#reports.set(stored.key, stored);
    this.#taskLedger = { ...ledger, waitingBytes: ledger.waitingBytes + made.bytes.length };
    return [result, stored];
  }

  async readWaitingReports(): Promise<readonly ReportWithKey[]> {
    return [...this.#reports.values()].filter(({ state }) => state === "waiting");
  }

  async setFinalState(keys: Iterable<number>, state: ReportState): Promise<void> {
    for (const key of keys) {
      const report = this.#reports.get(key);
      if (report?.state === "waiting") {
        this.#reports.set(key, { ...report, state });
        const waitingBytes = this.#taskLedger.waitingBytes - report.bytes.length;
        this.#taskLedger = { ...this.#taskLedger, waitingBytes };
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

  withdrawReportsAndConsent(): Promise<void> {
    this.#taskLedger = ledgerAfterRevocation(this.#taskLedger);
    return this.setFinalState(this.#reports.keys(), "withdrawn");
  }

  async readAllReports(): Promise<readonly ReportWithKey[]> {
    return [...this.#reports.values()];
  }

  close(): void {}
}
