// The demo page: starts the parts and carries events between them.

import { createRandomizer, HushbinError, type Randomizer } from "hushbin";
import { AnswersForm } from "./answers.js";
import { showBuckets } from "./buckets-view.js";
import { Collector, CollectorError, type TaskAnswer } from "./collector.js";
import { CrowdView } from "./crowd-view.js";
import { byId } from "./dom.js";
import { drawDrift } from "./drift.js";
import { EstimatesView } from "./estimates-view.js";
import { counted } from "./format.js";
import { Ledger } from "./ledger.js";
import type { Answers } from "./likelihood.js";
import { explainTask, showStatement } from "./meaning.js";
import { Observer } from "./observer.js";
import { OwnReport } from "./own-report.js";
import { type Question, questionsOf } from "./questions.js";
import { ReportView } from "./report-view.js";
import { Sender } from "./sending.js";
import draft from "./task.json" with { type: "json" };

/** How often the collector is asked when nothing is sent from here. */
const IDLE_MS = 4000;
/** Shortest time between two questions while a crowd grows. */
const BUSY_MS = 250;
const FIRST_ANSWERS: Answers = {
  "dark-mode": 1,
  notifications: -1,
  "save-passwords": 1,
  assistant: -1,
};

class Demo {
  readonly #answer: TaskAnswer;
  readonly #collector: Collector;
  readonly #randomizer: Randomizer;
  readonly #ledger: Ledger;
  readonly #sender: Sender;
  readonly #own: OwnReport;
  readonly #questions: Question[];
  readonly #form: AnswersForm;
  readonly #report = new ReportView();
  readonly #observer: Observer;
  readonly #crowd: CrowdView;
  readonly #estimates: EstimatesView;
  #asking = false;
  #askAgain = false;
  #askedAt = 0;
  #sending = false;

  constructor(answer: TaskAnswer, collector: Collector, randomizer: Randomizer) {
    this.#answer = answer;
    this.#collector = collector;
    this.#randomizer = randomizer;
    const { task, fingerprint } = answer;
    this.#ledger = new Ledger(shelf(), fingerprint, task.items.length);
    this.#sender = new Sender(collector, this.#ledger);
    this.#own = new OwnReport(collector.endpoint, answer, this.#ledger, this.#sender);
    this.#questions = questionsOf(task.items);
    this.#form = new AnswersForm(
      byId<HTMLFormElement>("questions"),
      this.#questions,
      this.#ledger.mine?.answers ?? FIRST_ANSWERS,
      () => {
        this.#report.forgetDraws();
        this.#preview();
      },
    );
    this.#observer = new Observer(task, this.#questions);
    this.#estimates = new EstimatesView(this.#questions, this.#ledger.truth);
    this.#crowd = new CrowdView({
      questions: this.#questions,
      randomizer,
      sender: this.#sender,
      people: () => this.#ledger.truth.people - (this.#ledger.mine ? 1 : 0),
      onSent: () => void this.#ask(),
      onDone: () => void this.#ask().then(() => this.#estimates.announce()),
      onTrouble: (error) => this.#trouble(error),
    });
  }

  async start(): Promise<void> {
    await this.#own.ready();
    explainTask(this.#answer);
    byId("again").addEventListener("click", () => this.#preview());
    byId("send").addEventListener("click", () => void this.#send());
    byId("show-sent").addEventListener("click", () => this.#showSent());
    byId("trouble-retry").addEventListener("click", () => void this.#recover());
    await this.#forgetIfFresh();
    await this.#recover();
    if (this.#ledger.mine) this.#showSent();
    else this.#preview();
    addEventListener("storage", () => {
      this.#ledger.reload();
      void this.#ask();
    });
    setInterval(() => {
      const due = performance.now() - this.#askedAt >= IDLE_MS;
      if (document.visibilityState === "visible" && due) void this.#ask();
    }, IDLE_MS / 4);
  }

  /** A collector with fewer reports than were sent to it has been emptied. */
  async #forgetIfFresh(): Promise<void> {
    const { reports } = await this.#collector.estimates();
    if (reports < this.#ledger.truth.people) this.#ledger.forget();
  }

  /** Settles what was left over, by an earlier visit or by a failure. */
  async #recover(): Promise<void> {
    try {
      await this.#sender.settle();
    } catch (error) {
      this.#trouble(error);
      return;
    }
    await this.#ask();
    this.#estimates.announce();
  }

  /** Randomises the answers as they stand, for looking at only. */
  #preview(): void {
    const { answers } = this.#form;
    try {
      const upload = this.#randomizer.upload(this.#randomizer.randomize(answers), 1);
      this.#show("preview", upload, answers);
    } catch (error) {
      this.#trouble(error);
    }
    byId("stamp-text").textContent = this.#ledger.mine
      ? "Your report has left. This is only what another draw would look like; it goes nowhere."
      : "Drawn here, sent nowhere. Sending draws afresh, once.";
    byId("again").textContent = "Randomise again";
  }

  async #send(): Promise<void> {
    const button = byId<HTMLButtonElement>("send");
    button.disabled = true;
    this.#sending = true;
    byId("stamp-text").textContent = "Sending …";
    try {
      await this.#own.send(this.#form.answers);
      this.#sending = false;
      this.#showSent();
      await this.#ask();
      this.#estimates.announce();
    } catch (error) {
      // Something older may have failed, before this report was drawn.
      const drawn = this.#ledger.pending?.mine !== undefined;
      byId("stamp-text").textContent = drawn
        ? "Drawn, but not acknowledged. The same bytes are kept and sent again."
        : "Not sent, and not drawn for sending either.";
      this.#sending = drawn;
      button.disabled = drawn;
      this.#trouble(error);
    }
  }

  #showSent(): void {
    const { mine } = this.#ledger;
    if (!mine) return;
    this.#show("sent", mine.upload, mine.answers);
    byId("stamp-text").textContent =
      "These bytes left your page and are on the collector’s disk. They are all it has of you.";
    byId("again").textContent = "Preview another draw";
  }

  #show(state: "preview" | "sent", upload: Uint8Array, answers: Answers): void {
    const report = this.#report.show({ state, upload });
    showBuckets(this.#answer.task, this.#questions, answers, report);
    this.#observer.show(answers, report);
    const sent = this.#ledger.mine !== null;
    byId("show-sent").hidden = !sent || state === "sent";
    const send = byId<HTMLButtonElement>("send");
    send.disabled = sent || this.#sending;
    send.textContent = sent ? "Sent, once" : "Send one report";
  }

  /** Asks for estimates; while one question is under way, at most one waits. */
  async #ask(): Promise<void> {
    if (this.#asking) {
      this.#askAgain = true;
      return;
    }
    this.#asking = true;
    try {
      do {
        this.#askAgain = false;
        const wait = this.#askedAt + BUSY_MS - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        this.#askedAt = performance.now();
        // Neither the truth nor the reports may move between the two readings.
        await this.#sender.exclusively(async () => {
          const answer = await this.#collector.estimates();
          this.#estimates.show(answer, this.#ledger.truth);
          showStatement(answer);
          standing(counted(answer.reports, "report"), true);
        });
        calm();
        this.#crowd.refresh();
        if (this.#sending && this.#ledger.mine) {
          this.#sending = false;
          this.#showSent();
        }
      } while (this.#askAgain);
    } catch (error) {
      this.#trouble(error);
    } finally {
      this.#asking = false;
    }
  }

  #trouble(error: unknown): void {
    trouble(error);
    standing("no answer", false);
  }
}

/** The browser's storage, or null where even asking for it is refused. */
function shelf(): Storage | null {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

function standing(text: string, on: boolean): void {
  byId("standing").textContent = text;
  byId("lamp").dataset.on = String(on);
}

function calm(): void {
  byId("trouble").hidden = true;
}

function trouble(error: unknown): void {
  // An unchanged alert is not read out again.
  const words = wordsFor(error);
  if (byId("trouble-text").textContent !== words) byId("trouble-text").textContent = words;
  byId("trouble").hidden = false;
}

function wordsFor(error: unknown): string {
  if (error instanceof CollectorError) {
    return error.final
      ? error.message
      : `${error.message} Nothing is lost: what was not acknowledged is kept and sent again, byte for byte.`;
  }
  if (error instanceof HushbinError) {
    switch (error.code) {
      case "wasm":
        return `This browser cannot run the module that randomises, so nothing can be reported: ${error.message}.`;
      case "no-entropy":
        return "The browser gave no secure randomness, so nothing is reported. There is no weaker way.";
      default:
        return `${error.name}: ${error.message}.`;
    }
  }
  return error instanceof Error ? error.message : String(error);
}

async function configured(): Promise<string> {
  const config: unknown = await fetch("config.json", { cache: "no-store" })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null);
  const endpoint = (config as { endpoint?: unknown } | null)?.endpoint;
  if (typeof endpoint === "string") return endpoint;
  throw new Error(
    "The page does not know its collector: config.json is missing beside it. Start it with npm run demo.",
  );
}

async function main(): Promise<void> {
  drawDrift(
    byId<SVGSVGElement>("drift"),
    questionsOf(draft.items).map(({ yes }) => yes),
  );
  try {
    const collector = new Collector(await configured(), draft.id);
    const answer = await collector.taskAnswer();
    const randomizer = await createRandomizer({ task: answer.task });
    await new Demo(answer, collector, randomizer).start();
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    trouble(error instanceof CollectorError ? new Error(error.message) : error);
    standing("not running", false);
    document.documentElement.dataset.failed = "true";
    byId("trouble-retry").addEventListener("click", () => location.reload());
  }
}

await main();
