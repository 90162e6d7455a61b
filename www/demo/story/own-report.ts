// The visitor's own report, sent as any page would: through the client. The
// only addition is a look at the bytes on their way out.

import { type Client, createClient } from "hushbin";
import type { Channel } from "./channel.js";
import type { Answers } from "./mechanism/kind.js";

export class OwnReport {
  readonly #channel: Channel;
  readonly #all: readonly Channel[];
  #client: Promise<Client> | null = null;
  #answers: Answers | null = null;

  /** Of `all` channels, at most one ever carries a report of the visitor. */
  constructor(channel: Channel, all: readonly Channel[]) {
    this.#channel = channel;
    this.#all = all;
  }

  /**
   * Reports once, whatever the mechanism: another report of the same answers
   * would spend ε again. Later calls only send again what is not acknowledged.
   */
  async send(answers: Answers): Promise<void> {
    const { answer, collector, sender } = this.#channel;
    this.#client ??= createClient({
      endpoint: collector.endpoint,
      task: answer.task,
      fingerprint: answer.fingerprint,
      fetch: (input, init) => this.#watched(input, init),
    });
    const client = await this.#client;
    await sender.exclusively(async () => {
      for (const { ledger } of this.#all) ledger.reload();
      if (this.#all.some(({ ledger }) => ledger.mine)) return;
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
    const { answer, ledger } = this.#channel;
    // After the receipt, a repeat of the same bytes is nothing new.
    if (!(upload instanceof Uint8Array) || !answers || ledger.mine) return fetch(input, init);
    const side = (sign: 1 | -1) =>
      answer.task.items.map((item) => (answers[item] === sign ? 1 : 0));
    ledger.begin({
      upload,
      truth: { people: 1, yes: side(1), no: side(-1) },
      mine: answers,
    });
    const response = await fetch(input, init);
    if (response.ok) ledger.acknowledge(upload);
    return response;
  }
}
