// One mechanism on the page: its task at the collector, its randomiser, and a record of the reports
// that this browser has sent for this task.

import { createClient, createRandomizer, type Randomizer } from "hushbin";
import { type EpsilonScope, type Estimand, Explainer } from "../shared/analysis.js";
import { CollectorClient, type EstimatesResponse, type TaskResponse } from "./collector.js";
import { type KeyValueStorage, SentReportsLedger, type TrueCounts } from "./ledger.js";
import type { Answers, MechanismInfo, MechanismTexts } from "./mechanism/mechanism.js";
import { CLIENT_OPTIONS, OwnReportSender } from "./own-report.js";
import { UploadSender } from "./sender.js";

export class MechanismChannel {
  readonly mechanismInfo: MechanismInfo;
  readonly taskResponse: TaskResponse;
  readonly explainer: Explainer;
  readonly texts: MechanismTexts;
  /** Quantities of an item that can be estimated from reports. */
  readonly estimands: readonly Estimand[];
  /**
   * Inputs that ε protects: the whole input, or one entry against an observer who knows all other
   * entries.
   */
  readonly epsilonScope: EpsilonScope;
  readonly randomizer: Randomizer;
  readonly collector: CollectorClient;
  readonly sentReportsLedger: SentReportsLedger;
  readonly sender: UploadSender;
  /** Last estimates from the collector; null before the first. */
  estimates: EstimatesResponse | null = null;

  private constructor(
    kind: MechanismInfo,
    answer: TaskResponse,
    randomizer: Randomizer,
    collector: CollectorClient,
    storage: KeyValueStorage | null,
  ) {
    this.mechanismInfo = kind;
    this.taskResponse = answer;
    this.explainer = new Explainer(answer.task);
    this.texts = kind.explain(answer.task, this.explainer);
    this.estimands = this.explainer.estimands;
    this.epsilonScope = this.explainer.epsilonScope;
    this.randomizer = randomizer;
    this.collector = collector;
    this.sentReportsLedger = new SentReportsLedger(
      storage,
      answer.fingerprint,
      answer.task.items.length,
    );
    this.sender = new UploadSender(collector, this.sentReportsLedger);
  }

  /**
   * Requests the task from the collector and creates its channel. The analysis module must be
   * loaded.
   */
  static async open(
    kind: MechanismInfo,
    endpoint: string,
    storage: KeyValueStorage | null,
  ): Promise<MechanismChannel> {
    const collector = new CollectorClient(endpoint, kind.taskId);
    const answer = await collector.fetchTask();
    const randomizer = await createRandomizer({ task: answer.task });
    const channel = new MechanismChannel(kind, answer, randomizer, collector, storage);
    await channel.#forgetIfCollectorEmptied();
    return channel;
  }

  /** Number of invented people who have reported. The visitor of the page is not counted. */
  get inventedReporterCount(): number {
    const { trueCounts: truth, ownReport: mine } = this.sentReportsLedger;
    return truth.people - (mine ? 1 : 0);
  }

  /**
   * Creates the object that sends the visitor's report. The visitor sends at most one report
   * through all channels together.
   */
  createOwnReportSender(all: readonly MechanismChannel[]): OwnReportSender<Answers> {
    const { taskResponse: answer, collector, sentReportsLedger: ledger, sender } = this;
    const { task, fingerprint } = answer;
    const { collectorUrl: endpoint } = collector;
    return new OwnReportSender<Answers>({
      ledger,
      sender,
      allLedgers: all.map((channel) => channel.sentReportsLedger),
      openClient: (fetch) =>
        createClient({ ...CLIENT_OPTIONS, endpoint, task, fingerprint, fetch }),
      trueCountsOf: (answers) => trueCountsOf(answers, task.items),
    });
  }

  /**
   * Requests estimates. Meanwhile, this browser sends no reports, so the estimates and the true
   * answers describe the same people.
   */
  fetchEstimates(): Promise<void> {
    return this.sender.runExclusively(async () => {
      this.estimates = await this.collector.estimates();
    });
  }

  /**
   * Clears the ledger if the collector was emptied. The collector then has fewer reports than this
   * browser sent.
   */
  async #forgetIfCollectorEmptied(): Promise<void> {
    const { reports } = await this.collector.estimates();
    if (reports < this.sentReportsLedger.trueCounts.people) this.sentReportsLedger.forget();
  }
}

/** Returns the true answers of one person, as counts for each item. */
function trueCountsOf(answers: Answers, items: readonly string[]): TrueCounts {
  const side = (sign: 1 | -1) => items.map((item) => (answers[item] === sign ? 1 : 0));
  return { people: 1, yes: side(1), no: side(-1) };
}
