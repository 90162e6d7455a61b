// One mechanism: its task at the collector, its randomiser, and a record of the reports that this
// browser has sent.

import { createClient, createRandomizer, type Randomizer } from "hushbin";
import { type EpsilonScope, type Estimand, Explainer } from "../shared/analysis.js";
import { Collector, type EstimatesAnswer, type TaskAnswer } from "./collector.js";
import { type KeyValueStorage, Ledger, type Truth } from "./ledger.js";
import type { Answers, MechanismInfo, MechanismTexts } from "./mechanism/mechanism.js";
import { CLIENT_OPTIONS, OwnReport } from "./own-report.js";
import { Sender } from "./sender.js";

export class Channel {
  readonly kind: MechanismInfo;
  readonly answer: TaskAnswer;
  readonly explainer: Explainer;
  readonly texts: MechanismTexts;
  /** Quantities that reports allow to estimate for an item. */
  readonly estimands: readonly Estimand[];
  /**
   * Scope of ε: the whole input, or one entry against an observer who knows all other entries.
   */
  readonly covers: EpsilonScope;
  readonly randomizer: Randomizer;
  readonly collector: Collector;
  readonly ledger: Ledger;
  readonly sender: Sender;
  /** Last answer of the collector. */
  estimates: EstimatesAnswer | null = null;

  private constructor(
    kind: MechanismInfo,
    answer: TaskAnswer,
    randomizer: Randomizer,
    collector: Collector,
    storage: KeyValueStorage | null,
  ) {
    this.kind = kind;
    this.answer = answer;
    this.explainer = new Explainer(answer.task);
    this.texts = kind.explain(answer.task, this.explainer);
    this.estimands = this.explainer.estimands;
    this.covers = this.explainer.covers;
    this.randomizer = randomizer;
    this.collector = collector;
    this.ledger = new Ledger(storage, answer.fingerprint, answer.task.items.length);
    this.sender = new Sender(collector, this.ledger);
  }

  /** Opens a channel. The analysis module must be loaded. */
  static async open(
    kind: MechanismInfo,
    endpoint: string,
    storage: KeyValueStorage | null,
  ): Promise<Channel> {
    const collector = new Collector(endpoint, kind.task);
    const answer = await collector.taskAnswer();
    const randomizer = await createRandomizer({ task: answer.task });
    const channel = new Channel(kind, answer, randomizer, collector, storage);
    await channel.#forgetIfFresh();
    return channel;
  }

  /** Number of people of the crowd who have reported, without the visitor. */
  get crowd(): number {
    const { truth, mine } = this.ledger;
    return truth.people - (mine ? 1 : 0);
  }

  /** Creates the visitor's report. The visitor sends at most one report over `all` channels. */
  ownReport(all: readonly Channel[]): OwnReport<Answers> {
    const { answer, collector, ledger, sender } = this;
    const { task, fingerprint } = answer;
    const { endpoint } = collector;
    return new OwnReport<Answers>({
      ledger,
      sender,
      all: all.map((channel) => channel.ledger),
      open: (fetch) => createClient({ ...CLIENT_OPTIONS, endpoint, task, fingerprint, fetch }),
      truthOf: (answers) => truthOf(answers, task.items),
    });
  }

  /** Requests estimates while neither the truth nor the reports can change. */
  ask(): Promise<void> {
    return this.sender.exclusively(async () => {
      this.estimates = await this.collector.estimates();
    });
  }

  /** Clears the ledger if the collector has fewer reports than were sent: it was emptied. */
  async #forgetIfFresh(): Promise<void> {
    const { reports } = await this.collector.estimates();
    if (reports < this.ledger.truth.people) this.ledger.forget();
  }
}

/** Returns the truth about one person. */
function truthOf(answers: Answers, items: readonly string[]): Truth {
  const side = (sign: 1 | -1) => items.map((item) => (answers[item] === sign ? 1 : 0));
  return { people: 1, yes: side(1), no: side(-1) };
}
