// The task of the chapter on visits: its randomiser, the record of reports that this browser has
// sent, and the collector's last estimates for each question.

import { createClient, createRandomizer, type Randomizer } from "hushbin";
import { type Explanation, NamedQuestionExplainer } from "../../shared/analysis.js";
import { CollectorClient, type EstimatesResponse } from "../collector.js";
import { emptyTrueCounts, type KeyValueStorage, SentReportsLedger } from "../ledger.js";
import { CLIENT_OPTIONS, OwnReportSender } from "../own-report.js";
import { UploadSender } from "../sender.js";
import { type VisitTrueCounts, visitTrueCounts } from "./people.js";
import { FEATURES, LOAD, QUANTILES, THEME, VISITS_TASK, type Visit, visitEntries } from "./task.js";

export interface VisitEstimates {
  readonly theme: EstimatesResponse;
  readonly features: EstimatesResponse;
  readonly loadMs: EstimatesResponse;
}

export class VisitsChannel {
  readonly collector: CollectorClient;
  readonly randomizer: Randomizer<typeof VISITS_TASK>;
  /**
   * Record of the number of people who have reported. The answers of an invented person follow from
   * the person's number.
   */
  readonly ledger: SentReportsLedger<Visit>;
  readonly sender: UploadSender<Visit>;
  readonly ownReportSender: OwnReportSender<Visit>;
  readonly #explainer = new NamedQuestionExplainer(VISITS_TASK);
  lastEstimates: VisitEstimates | null = null;
  #truth: VisitTrueCounts = visitTrueCounts(0, null);

  private constructor(
    collector: CollectorClient,
    randomizer: Randomizer<typeof VISITS_TASK>,
    storage: KeyValueStorage | null,
  ) {
    const { endpoint } = collector;
    const { fingerprint } = randomizer;
    this.collector = collector;
    this.randomizer = randomizer;
    this.ledger = new SentReportsLedger(storage, fingerprint, 0);
    this.sender = new UploadSender(collector, this.ledger);
    this.ownReportSender = new OwnReportSender<Visit>({
      ledger: this.ledger,
      sender: this.sender,
      allLedgers: [this.ledger],
      openClient: (fetch) =>
        createClient({ ...CLIENT_OPTIONS, endpoint, task: VISITS_TASK, fingerprint, fetch }),
      trueCountsOf: () => ({ ...emptyTrueCounts(0), people: 1 }),
    });
  }

  static async open(endpoint: string, storage: KeyValueStorage | null): Promise<VisitsChannel> {
    const randomizer = await createRandomizer({ task: VISITS_TASK });
    const channel = new VisitsChannel(
      new CollectorClient(endpoint, VISITS_TASK.id),
      randomizer,
      storage,
    );
    await channel.collector.checkFingerprint(randomizer.fingerprint);
    // A collector with fewer reports than were sent has been emptied.
    await channel.#ask();
    if (channel.reports < channel.ledger.trueCounts.people) channel.ledger.forget();
    return channel;
  }

  /** Number of invented visitors who have reported. The visitor of the page is not counted. */
  get crowdSize(): number {
    return this.ledger.trueCounts.people - (this.ledger.ownReport ? 1 : 0);
  }

  /** Number of reports at the collector, for all questions together. */
  get reports(): number {
    const { theme, features, loadMs } = this.lastEstimates ?? {};
    return [theme, features, loadMs].reduce((sum, answer) => sum + (answer?.reports ?? 0), 0);
  }

  /** True counts for all people whose reports this browser sent. */
  get trueCounts(): VisitTrueCounts {
    const { crowdSize: crowd } = this;
    const { ownReport: mine } = this.ledger;
    if (this.#truth.crowdSize !== crowd || this.#truth.people !== crowd + (mine ? 1 : 0)) {
      this.#truth = visitTrueCounts(crowd, mine?.answers ?? null);
    }
    return this.#truth;
  }

  /** Explains what the bytes of an upload reveal about the visit. */
  explainUpload(visit: Visit, upload: Uint8Array): Explanation {
    return this.#explainer.explain(visitEntries(visit), upload);
  }

  /**
   * Requests estimates. Meanwhile, this browser sends no reports, so the estimates and the true
   * answers describe the same people.
   */
  fetchEstimates(): Promise<void> {
    return this.sender.runExclusively(() => this.#ask());
  }

  async #ask(): Promise<void> {
    const quantiles = QUANTILES.map(([part]) => part).join();
    const [theme, features, loadMs] = await Promise.all([
      this.collector.estimates(`question=${THEME.name}`),
      this.collector.estimates(`question=${FEATURES.name}`),
      this.collector.estimates(`question=${LOAD.name}`, `quantiles=${quantiles}`),
    ]);
    this.lastEstimates = { theme, features, loadMs };
  }
}
