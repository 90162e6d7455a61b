// The demo page: creates the views of its chapters and passes events between them.

import { HushbinError } from "hushbin";
import { isRefusal, loadAnalysis } from "../shared/analysis.js";
import { byId } from "../shared/dom.js";
import { formatCountWithNoun } from "../shared/format.js";
import { AnswersForm } from "./answers.js";
import { AuditView } from "./audit.js";
import { BothWaysSection } from "./both/section.js";
import { MechanismChannel } from "./channel.js";
import { CollectorError } from "./collector.js";
import { waitForCollectorUrl } from "./collector-url.js";
import { meanHalfWidth, showMechanismComparison } from "./comparison.js";
import { CrowdView } from "./crowd.js";
import { drawDecorativePicture } from "./drift.js";
import { EstimatesView } from "./estimates.js";
import { explainTask, showPrivacyStatement } from "./meaning.js";
import { MECHANISM_INFOS } from "./mechanism/index.js";
import type { Answers } from "./mechanism/mechanism.js";
import { MechanismSwitch } from "./mechanism-switch.js";
import { ObserverView } from "./observer.js";
import { type OwnReportSender, unsentReportText } from "./own-report.js";
import { showReportPicture } from "./picture.js";
import { type Question, questionsOf } from "./questions.js";
import { NO_RANDOMNESS } from "./randomness.js";
import { ReportView } from "./report.js";
import draft from "./tasks/collision.json" with { type: "json" };
import { VisitsChannel } from "./visits/channel.js";
import { VisitsSection } from "./visits/section.js";

/** Interval in ms between requests for estimates while this page sends nothing. */
const IDLE_REQUEST_INTERVAL_MS = 4000;
/** Minimum time in ms between requests for estimates while a crowd grows. */
const MIN_REQUEST_INTERVAL_MS = 250;
const FIRST_ANSWERS: Answers = { "dark-mode": 1, notifications: -1 };

class DemoPage {
  readonly #channels: readonly MechanismChannel[];
  /** Chosen mechanism, with its task, its randomiser and its record of sent reports. */
  #channel: MechanismChannel;
  readonly #ownReportSenders: ReadonlyMap<MechanismChannel, OwnReportSender<Answers>>;
  readonly #questionList: Question[];
  readonly #form: AnswersForm;
  readonly #switch: MechanismSwitch;
  readonly #report = new ReportView();
  readonly #observer: ObserverView;
  readonly #crowd: CrowdView;
  readonly #estimates: EstimatesView;
  readonly #audit: AuditView;
  readonly #visits: VisitsSection;
  readonly #channelsToRequest = new Set<MechanismChannel>();
  #runningRequest: Promise<void> | null = null;
  #askedAt = 0;
  #sending = false;

  constructor(channels: readonly MechanismChannel[], visits: VisitsChannel) {
    this.#channels = channels;
    const [first] = channels;
    if (!first) throw new RangeError("There is no mechanism to explain on this page.");
    this.#channel = this.#sentChannel ?? first;
    this.#ownReportSenders = new Map(
      channels.map((channel) => [channel, channel.createOwnReportSender(channels)]),
    );
    const { items, sparsity } = this.#channel.taskResponse.task;
    this.#questionList = questionsOf(items);
    this.#form = new AnswersForm(
      byId<HTMLFormElement>("questions"),
      this.#questionList,
      sparsity,
      this.#sentChannel?.sentReportsLedger.ownReport?.answers ?? FIRST_ANSWERS,
      () => {
        this.#report.forgetDraws();
        this.#preview();
      },
    );
    this.#switch = new MechanismSwitch(channels, (channel) => void this.#choose(channel));
    this.#observer = new ObserverView(this.#channel, this.#questionList);
    this.#estimates = new EstimatesView(
      this.#questionList,
      this.#channel.sentReportsLedger.trueCounts,
    );
    this.#crowd = new CrowdView({
      questions: this.#questionList,
      chosenChannel: () => this.#channel,
      channels,
      onSent: (channel) => void this.#requestEstimates(channel),
      onDone: () =>
        void this.#requestEstimates(...this.#channels).then(() =>
          this.#estimates.announceVerdict(),
        ),
      onTrouble: (error) => this.#showError(error),
    });
    this.#audit = new AuditView(this.#channel, (error) => this.#showError(error));
    this.#visits = new VisitsSection(visits, (error) => this.#showError(error));
  }

  async start(): Promise<void> {
    byId("again").addEventListener("click", () => this.#preview());
    byId("send").addEventListener("click", () => void this.#send());
    byId("show-sent").addEventListener("click", () => this.#showSent());
    byId("trouble-retry").addEventListener("click", () => void this.#resendPendingUploads());
    this.#showMechanism();
    await this.#resendPendingUploads();
    addEventListener("storage", () => {
      for (const { sentReportsLedger: ledger } of this.#channels) ledger.reload();
      void this.#requestEstimates(...this.#channels);
      void this.#visits.syncWithOtherTabs();
    });
    setInterval(() => {
      if (document.visibilityState !== "visible") return;
      if (performance.now() - this.#askedAt >= IDLE_REQUEST_INTERVAL_MS)
        void this.#requestEstimates(this.#channel);
      this.#visits.poll(IDLE_REQUEST_INTERVAL_MS);
    }, IDLE_REQUEST_INTERVAL_MS / 4);
  }

  /** Channel through which the visitor's report was sent; undefined if none was sent. */
  get #sentChannel(): MechanismChannel | undefined {
    return this.#channels.find(({ sentReportsLedger: ledger }) => ledger.ownReport);
  }

  async #choose(channel: MechanismChannel): Promise<void> {
    this.#channel = channel;
    this.#crowd.onSwitch();
    this.#audit.show(channel);
    this.#showMechanism();
    await this.#requestEstimates(channel);
    this.#estimates.announceVerdict();
  }

  /** Updates every view that depends on the chosen mechanism. */
  #showMechanism(): void {
    this.#switch.show(this.#channel);
    explainTask(this.#channel);
    this.#report.forgetDraws();
    if (this.#channel === this.#sentChannel) this.#showSent();
    else this.#preview();
    this.#showEstimates();
  }

  #showEstimates(): void {
    const channel = this.#channel;
    this.#estimates.show(channel);
    if (channel.estimates) {
      showPrivacyStatement(channel.estimates);
      showCollectorStatus(formatCountWithNoun(channel.estimates.reports, "report"), true);
    }
    showMechanismComparison(
      this.#channels.map(({ mechanismInfo: kind, epsilonScope: covers, estimates }) => ({
        name: kind.name,
        epsilonScopeText: kind.epsilonScopeText,
        protectsSingleAnswersOnly: covers === "entry",
        reports: estimates?.reports ?? 0,
        halfWidth: meanHalfWidth(estimates),
        chosen: kind === channel.mechanismInfo,
      })),
    );
    this.#crowd.refreshCrowdSize();
  }

  /** Sends uploads that an earlier visit or a failure left pending. */
  async #resendPendingUploads(): Promise<void> {
    try {
      for (const { sender } of this.#channels) await sender.sendPendingUpload();
      await this.#visits.resendPendingUploads();
    } catch (error) {
      this.#showError(error);
      return;
    }
    await this.#requestEstimates(...this.#channels);
    this.#estimates.announceVerdict();
  }

  /** Randomises the current answers and shows the report as a preview. The report is not sent. */
  #preview(): void {
    const { answers } = this.#form;
    const { randomizer } = this.#channel;
    try {
      this.#showReport("preview", randomizer.upload(randomizer.randomize(answers), 1), answers);
    } catch (error) {
      this.#showError(error);
    }
    byId("stamp-text").textContent = this.#sentChannel
      ? `Your report was sent, under ${this.#sentChannel.mechanismInfo.name}. This preview shows another report, which is not sent.`
      : "This report was made here and is sent nowhere. “Send one report” makes a new report and sends it, only once.";
    byId("again").textContent = "Randomise again";
  }

  async #send(): Promise<void> {
    const button = byId<HTMLButtonElement>("send");
    const channel = this.#channel;
    button.disabled = true;
    this.#sending = true;
    byId("stamp-text").textContent = "Sending …";
    try {
      await this.#ownReportSenders.get(channel)?.send(this.#form.answers);
      this.#sending = false;
      this.#showSent();
      await this.#requestEstimates(channel);
      this.#estimates.announceVerdict();
    } catch (error) {
      // An older upload may have failed before this report was drawn.
      const drawn = channel.sentReportsLedger.pending?.ownAnswers !== undefined;
      byId("stamp-text").textContent = unsentReportText(drawn);
      this.#sending = drawn;
      button.disabled = drawn;
      this.#showError(error);
    }
  }

  /** Shows the visitor's report that was sent, and switches to its mechanism. */
  #showSent(): void {
    const sent = this.#sentChannel;
    const mine = sent?.sentReportsLedger.ownReport;
    if (!sent || !mine) return;
    if (sent !== this.#channel) {
      void this.#choose(sent);
      return;
    }
    this.#showReport("sent", mine.upload, mine.answers);
    byId("stamp-text").textContent =
      "These bytes left your page and are on the collector’s disk. The collector has nothing else about you.";
    byId("again").textContent = "Preview another report";
  }

  #showReport(state: "preview" | "sent", upload: Uint8Array, answers: Answers): void {
    const channel = this.#channel;
    const { texts, explainer } = channel;
    const reported = this.#report.show({ state, upload, channel });
    const placement = explainer.place(answers, upload);
    showReportPicture(texts.picture(placement, reported, this.#questionList));
    this.#observer.show(channel, answers, upload);
    const sent = this.#sentChannel !== undefined;
    byId("show-sent").hidden = !sent || state === "sent";
    const send = byId<HTMLButtonElement>("send");
    send.disabled = sent || this.#sending;
    send.textContent = sent ? "Sent once" : "Send one report";
  }

  /**
   * Requests the estimates of these channels. If a request is already running, the next one
   * includes these channels.
   */
  #requestEstimates(...channels: readonly MechanismChannel[]): Promise<void> {
    for (const channel of channels) this.#channelsToRequest.add(channel);
    this.#runningRequest ??= this.#requestQueuedEstimates().finally(() => {
      this.#runningRequest = null;
    });
    return this.#runningRequest;
  }

  async #requestQueuedEstimates(): Promise<void> {
    try {
      while (this.#channelsToRequest.size > 0) {
        const wait = this.#askedAt + MIN_REQUEST_INTERVAL_MS - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        this.#askedAt = performance.now();
        const channels = [...this.#channelsToRequest];
        this.#channelsToRequest.clear();
        for (const channel of channels) await channel.fetchEstimates();
        this.#showEstimates();
        hideTrouble();
        if (this.#sending && this.#sentChannel) {
          this.#sending = false;
          this.#showSent();
        }
      }
    } catch (error) {
      this.#channelsToRequest.clear();
      this.#showError(error);
    }
  }

  #showError(error: unknown): void {
    showTrouble(error);
    showCollectorStatus("no answer", false);
  }
}

/** Returns the browser's storage, or null if the browser refuses access. */
function localStorageOrNull(): Storage | null {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

function showCollectorStatus(text: string, on: boolean): void {
  byId("standing").textContent = text;
  byId("lamp").dataset.on = String(on);
}

function hideTrouble(): void {
  byId("trouble").hidden = true;
}

function showTrouble(error: unknown): void {
  // Screen readers would announce an unchanged alert again.
  const words = troubleText(error);
  if (byId("trouble-text").textContent !== words) byId("trouble-text").textContent = words;
  byId("trouble").hidden = false;
}

function troubleText(error: unknown): string {
  if (error instanceof CollectorError) {
    return error.isPermanent
      ? error.message
      : `${error.message} Nothing is lost: unacknowledged uploads are kept, and exactly the same bytes are sent again.`;
  }
  if (error instanceof HushbinError) {
    switch (error.code) {
      case "wasm":
        return `This browser cannot run the module that randomises, so nothing can be reported: ${error.message}.`;
      case "no-entropy":
        return NO_RANDOMNESS;
      default:
        return `${error.name}: ${error.message}.`;
    }
  }
  return error instanceof Error || isRefusal(error) ? error.message : String(error);
}

async function main(): Promise<void> {
  drawDecorativePicture(
    byId<SVGSVGElement>("drift"),
    questionsOf(draft.items).map(({ yes }) => yes),
  );
  try {
    await loadAnalysis(new URL("../shared/analysis.wasm", import.meta.url));
    // This chapter needs no collector.
    new BothWaysSection(showTrouble);
    const endpoint = await waitForCollectorUrl();
    const channels = await Promise.all(
      MECHANISM_INFOS.map((kind) => MechanismChannel.open(kind, endpoint, localStorageOrNull())),
    );
    const visits = await VisitsChannel.open(endpoint, localStorageOrNull());
    await new DemoPage(channels, visits).start();
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    showTrouble(error instanceof CollectorError ? new Error(error.message) : error);
    showCollectorStatus("not running", false);
    document.documentElement.dataset.failed = "true";
    byId("trouble-retry").addEventListener("click", () => location.reload());
  }
}

await main();
