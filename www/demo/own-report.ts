// The visitor's own report, sent as any page would: through the client. The
// only addition is a look at the bytes on their way out.

import { type Client, createClient } from "hushbin";
import type { TaskAnswer } from "./collector.js";
import type { Ledger } from "./ledger.js";
import type { Answers } from "./likelihood.js";
import type { Sender } from "./sending.js";

export class OwnReport {
  readonly #client: Promise<Client>;
  readonly #ledger: Ledger;
  readonly #sender: Sender;
  readonly #items: readonly string[];
  #answers: Answers | null = null;

  constructor(endpoint: string, answer: TaskAnswer, ledger: Ledger, sender: Sender) {
    this.#ledger = ledger;
    this.#sender = sender;
    this.#items = answer.task.items;
    this.#client = createClient({
      endpoint,
      task: answer.task,
      fingerprint: answer.fingerprint,
      fetch: (input, init) => this.#watched(input, init),
    });
  }

  /** Resolves when the client is ready to report. */
  async ready(): Promise<void> {
    await this.#client;
  }

  /** Reports once; later calls only send again what is not acknowledged. */
  async send(answers: Answers): Promise<void> {
    const client = await this.#client;
    await this.#sender.exclusively(async () => {
      if (this.#ledger.mine) return;
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
    // After the receipt, a repeat of the same bytes is nothing new.
    if (!(upload instanceof Uint8Array) || !answers || this.#ledger.mine) return fetch(input, init);
    const side = (sign: 1 | -1) => this.#items.map((item) => (answers[item] === sign ? 1 : 0));
    this.#ledger.begin({
      upload,
      truth: { people: 1, yes: side(1), no: side(-1) },
      mine: answers,
    });
    const response = await fetch(input, init);
    if (response.ok) this.#ledger.acknowledge(upload);
    return response;
  }
}
