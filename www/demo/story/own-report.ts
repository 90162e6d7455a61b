// The visitor's own report, sent as any page would: through the client. The
// only addition is a look at the bytes on their way out.

import type { ClientOptions } from "hushbin";

import type { Ledger, Truth } from "./ledger.js";
import type { Sender } from "./sending.js";

/** What it takes of the package's client. */
export interface Reporter<A> {
  readonly pending: number;
  report(answers: A): Promise<unknown>;
  flush(): Promise<void>;
}

/** @typeParam A the answers */
export interface Outlet<A> {
  readonly ledger: Ledger<A>;
  readonly sender: Sender<A>;
  /** Ledgers of which at most one ever carries a report of the visitor. */
  readonly all: readonly Ledger<A>[];
  /** A client that sends by this `fetch`. */
  readonly open: (fetch: typeof globalThis.fetch) => Reporter<A>;
  readonly truthOf: (answers: A) => Truth;
}

/**
 * How the page makes its clients: who presses the button agrees, whatever the browser
 * says by default, and what was sent is noted in the page's own ledger.
 */
export const PRESSED = {
  consent: true,
  ignoreSignals: true,
  storage: "memory",
} as const satisfies Partial<ClientOptions>;

export class OwnReport<A> {
  readonly #outlet: Outlet<A>;
  #client: Reporter<A> | null = null;
  #answers: A | null = null;

  constructor(outlet: Outlet<A>) {
    this.#outlet = outlet;
  }

  /**
   * Reports once, whatever the mechanism: another report of the same answers
   * would spend ε again. Later calls only send again what is not acknowledged.
   */
  async send(answers: A): Promise<void> {
    const { all, open, sender } = this.#outlet;
    this.#client ??= open((input, init) => this.#watched(input, init));
    const client = this.#client;
    await sender.exclusively(async () => {
      for (const ledger of all) ledger.reload();
      if (all.some(({ mine }) => mine)) return;
      if (client.pending === 0) {
        this.#answers = answers;
        await client.report(answers);
      }
      await client.flush();
    });
  }

  /** Notes the bytes in the ledger before they leave, and their receipt. */
  async #watched(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const upload = init?.body;
    const answers = this.#answers;
    const { ledger, truthOf } = this.#outlet;
    // After the receipt, a repeat of the same bytes is nothing new.
    if (!(upload instanceof Uint8Array) || !answers || ledger.mine) return fetch(input, init);
    ledger.begin({ upload, truth: truthOf(answers), mine: answers });
    const response = await fetch(input, init);
    if (response.ok) ledger.acknowledge(upload);
    return response;
  }
}

/** Of a report that was not acknowledged, in words. */
export function unsent(drawn: boolean): string {
  return drawn
    ? "Drawn, but not acknowledged. The same bytes are kept and sent again."
    : "Not sent, and not drawn for sending either.";
}
