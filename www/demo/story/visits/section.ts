// The chapter on visits, with other kinds of answers: creates its views and passes events between
// them.

import type { VisitsChannel } from "./channel.js";
import { VisitsCrowdView } from "./crowd.js";
import { VisitsEstimatesView } from "./estimates.js";
import { OwnVisitView } from "./own.js";

/** Minimum time in ms between requests for estimates while a crowd grows. */
const MIN_REQUEST_INTERVAL_MS = 400;

export class VisitsSection {
  readonly #channel: VisitsChannel;
  readonly #onTrouble: (error: unknown) => void;
  readonly #own: OwnVisitView;
  readonly #crowd: VisitsCrowdView;
  readonly #estimates = new VisitsEstimatesView();
  #runningRequest: Promise<void> | null = null;
  /** True if reports may have been sent since the last request for estimates. */
  #estimatesStale = false;
  #askedAt = 0;

  constructor(channel: VisitsChannel, onTrouble: (error: unknown) => void) {
    this.#channel = channel;
    this.#onTrouble = onTrouble;
    const onDone = () =>
      void this.requestEstimates().then(() => this.#estimates.announceVerdicts());
    this.#own = new OwnVisitView({ channel, onSent: onDone, onTrouble });
    this.#crowd = new VisitsCrowdView({
      channel,
      onSent: () => void this.requestEstimates(),
      onDone,
      onTrouble,
    });
    this.#estimates.show(channel);
  }

  /** Sends uploads that an earlier visit or a failure left pending. */
  async resendPendingUploads(): Promise<void> {
    await this.#channel.sender.sendPendingUpload();
    this.#own.show();
    await this.requestEstimates();
  }

  /** Shows a report that another tab has sent, and requests new estimates. */
  async syncWithOtherTabs(): Promise<void> {
    const before = this.#channel.ledger.ownReport;
    this.#channel.ledger.reload();
    if (!before && this.#channel.ledger.ownReport) this.#own.show();
    await this.requestEstimates();
  }

  /** Requests estimates if the last request was at least `idleMs` ago. */
  poll(idleMs: number): void {
    if (performance.now() - this.#askedAt >= idleMs) void this.requestEstimates();
  }

  /** Requests estimates. If a request is already running, makes another one afterwards. */
  requestEstimates(): Promise<void> {
    this.#estimatesStale = true;
    this.#runningRequest ??= this.#askWhileStale().finally(() => {
      this.#runningRequest = null;
    });
    return this.#runningRequest;
  }

  async #askWhileStale(): Promise<void> {
    try {
      while (this.#estimatesStale) {
        const wait = this.#askedAt + MIN_REQUEST_INTERVAL_MS - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        this.#askedAt = performance.now();
        this.#estimatesStale = false;
        await this.#channel.fetchEstimates();
        this.#crowd.refresh();
        this.#estimates.show(this.#channel);
      }
    } catch (error) {
      this.#estimatesStale = false;
      this.#onTrouble(error);
    }
  }
}
