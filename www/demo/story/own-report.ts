// The visitor's own report. The package's client sends it, as on any page. This page only reads the
// bytes before they leave.

import type { ClientOptions } from "hushbin";

import type { SentReportsLedger, TrueCounts } from "./ledger.js";
import type { UploadSender } from "./sender.js";

/** Functions of the package's client that this page uses. */
export interface ReportingClient<A> {
  readonly pending: number;
  report(answers: A): Promise<unknown>;
  flush(): Promise<void>;
}

/** @typeParam A type of the visitor's answers */
export interface OwnReportOptions<A> {
  readonly ledger: SentReportsLedger<A>;
  readonly sender: UploadSender<A>;
  /** Ledgers of all mechanisms. Together they contain at most one report of the visitor. */
  readonly allLedgers: readonly SentReportsLedger<A>[];
  /** Creates a client that sends its requests with this `fetch`. */
  readonly openClient: (fetch: typeof globalThis.fetch) => ReportingClient<A>;
  readonly trueCountsOf: (answers: A) => TrueCounts;
}

/**
 * Options of the clients that send the visitor's report. A person who presses the button consents,
 * so the browser's privacy signals are ignored. The page's ledger records the report, so the client
 * needs no persistent storage.
 */
export const CLIENT_OPTIONS = {
  consent: true,
  ignoreSignals: true,
  storage: "memory",
} as const satisfies Partial<ClientOptions>;

export class OwnReportSender<A> {
  readonly #options: OwnReportOptions<A>;
  #client: ReportingClient<A> | null = null;
  #answers: A | null = null;

  constructor(options: OwnReportOptions<A>) {
    this.#options = options;
  }

  /**
   * Sends the visitor's report, unless one was sent under any of the mechanisms. A second report of
   * the same answers would spend ε again. A later call only resends a report that is not
   * acknowledged.
   */
  async send(answers: A): Promise<void> {
    const { allLedgers: all, openClient: open, sender } = this.#options;
    this.#client ??= open((input, init) => this.#recordAndFetch(input, init));
    const client = this.#client;
    await sender.runExclusively(async () => {
      for (const ledger of all) ledger.reload();
      if (all.some(({ ownReport: mine }) => mine)) return;
      if (client.pending === 0) {
        this.#answers = answers;
        await client.report(answers);
      }
      await client.flush();
    });
  }

  /**
   * Sends a request of the client. The ledger records the bytes of an upload before they are sent,
   * and the collector's receipt afterwards.
   */
  async #recordAndFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const upload = init?.body;
    const answers = this.#answers;
    const { ledger, trueCountsOf: truthOf } = this.#options;
    // After the receipt, the same bytes are already recorded.
    if (!(upload instanceof Uint8Array) || !answers || ledger.ownReport) return fetch(input, init);
    ledger.recordPending({ upload, trueCounts: truthOf(answers), ownAnswers: answers });
    const response = await fetch(input, init);
    if (response.ok) ledger.acknowledge(upload);
    return response;
  }
}

/**
 * Returns the message for a report that was not acknowledged. `drawn` is true if it was already
 * randomised.
 */
export function unsentReportText(drawn: boolean): string {
  return drawn
    ? "Your report was made, but the collector has not acknowledged it. The same bytes are kept and sent again."
    : "Not sent. Your report has not been made yet.";
}
