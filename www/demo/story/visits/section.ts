// The chapter on other kinds of answers: starts its parts and carries events
// between them.

import { VisitsCrowdView } from "./crowd.js";
import type { VisitsDesk } from "./desk.js";
import { VisitsEstimatesView } from "./estimates.js";
import { OwnVisitView } from "./own.js";

/** Shortest time between two questions while a crowd grows. */
const BUSY_MS = 400;

export class VisitsSection {
  readonly #desk: VisitsDesk;
  readonly #onTrouble: (error: unknown) => void;
  readonly #own: OwnVisitView;
  readonly #crowd: VisitsCrowdView;
  readonly #estimates = new VisitsEstimatesView();
  #asking: Promise<void> | null = null;
  /** Whether something has changed since the collector was last asked. */
  #stale = false;
  #askedAt = 0;

  constructor(desk: VisitsDesk, onTrouble: (error: unknown) => void) {
    this.#desk = desk;
    this.#onTrouble = onTrouble;
    const onDone = () => void this.ask().then(() => this.#estimates.announce());
    this.#own = new OwnVisitView({ desk, onSent: onDone, onTrouble });
    this.#crowd = new VisitsCrowdView({
      desk,
      onSent: () => void this.ask(),
      onDone,
      onTrouble,
    });
    this.#estimates.show(desk);
  }

  /** Settles what was left over, by an earlier visit or by a failure. */
  async recover(): Promise<void> {
    await this.#desk.sender.settle();
    this.#own.show();
    await this.ask();
  }

  /** Shows what another tab has sent. */
  async reload(): Promise<void> {
    const before = this.#desk.ledger.mine;
    this.#desk.ledger.reload();
    if (!before && this.#desk.ledger.mine) this.#own.show();
    await this.ask();
  }

  /** Asks the collector if it was last asked so long ago. */
  poll(idleMs: number): void {
    if (performance.now() - this.#askedAt >= idleMs) void this.ask();
  }

  /** Asks the collector; whoever asks while it is asked waits for the next answer. */
  ask(): Promise<void> {
    this.#stale = true;
    this.#asking ??= this.#askWhileStale().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askWhileStale(): Promise<void> {
    try {
      while (this.#stale) {
        const wait = this.#askedAt + BUSY_MS - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        this.#askedAt = performance.now();
        this.#stale = false;
        await this.#desk.ask();
        this.#crowd.refresh();
        this.#estimates.show(this.#desk);
      }
    } catch (error) {
      this.#stale = false;
      this.#onTrouble(error);
    }
  }
}
