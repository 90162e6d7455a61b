// The planner's page: passes questions to the worker thread, and its answers to the views.

import type { Refusal } from "../shared/analysis.js";
import { byId } from "../shared/dom.js";
import { PlanView, taskFileText } from "./answer.js";
import {
  type AnyPlan,
  type CurveName,
  type CurvePoint,
  curvePointOf,
  isSumPlan,
} from "./curves.js";
import { copyToClipboard, downloadJson } from "./export.js";
import { PlannerForm } from "./form.js";
import type { PlanRequest } from "./plan-queue.js";
import type { Plots } from "./plots.js";
import {
  firstInvalidFields,
  parseQuestions,
  plannerInput,
  type Questions,
  questionNames,
  questionsToUrlFragment,
  shownQuestion,
} from "./questions.js";
import { fieldForError } from "./state.js";
import type { WorkerMessage } from "./worker.js";

/**
 * Delay in ms before changed settings are written to the URL. Browsers limit the rate of such
 * changes.
 */
const SAVE_AFTER_MS = 300;
/** Time in ms after which the worker thread is replaced if an older question still occupies it. */
const RESTART_AFTER_MS = 1500;
/** Number of points that a new curve needs before it replaces the old one. */
const MIN_POINTS = 6;

type Curves = Record<CurveName, readonly CurvePoint[]>;
const NO_CURVES: Curves = { epsilon: [], people: [] };

class PlannerPage {
  #questions = parseQuestions(location.hash);
  readonly #form = new PlannerForm(this.#questions, (questions) => this.#change(questions));
  readonly #view = new PlanView();
  #worker: Worker | null = null;
  /** Id of the newest question. */
  #newestQuestionId = 0;
  /** Id of the question that the worker thread works on; 0 before its first question. */
  #workingQuestionId = 0;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;
  #answer: AnyPlan | null = null;
  /** Index of the question whose errors are plotted. */
  #plottedQuestionIndex = 0;
  #plots: Plots | null = null;
  #shownCurves: Curves = NO_CURVES;
  #curvesInProgress: Curves = NO_CURVES;
  #saving: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    addEventListener("hashchange", () => {
      this.#questions = parseQuestions(location.hash);
      this.#form.show(this.#questions);
      this.#requestPlan();
    });
    byId("form").addEventListener("submit", (event) => event.preventDefault());
    byId("copy").addEventListener("click", () => {
      if (this.#answer)
        void copyToClipboard(taskFileText(this.#answer), "The task file is copied.");
    });
    byId("copy-link").addEventListener("click", () => {
      this.#save();
      void copyToClipboard(location.href, "The link is copied.");
    });
    byId("download").addEventListener("click", () => {
      if (this.#answer) downloadJson(`${this.#answer.task.id}.json`, taskFileText(this.#answer));
    });
    this.#requestPlan();
  }

  #change(questions: Questions): void {
    this.#questions = questions;
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), SAVE_AFTER_MS);
    this.#requestPlan();
  }

  #save(): void {
    clearTimeout(this.#saving);
    history.replaceState(null, "", `#${questionsToUrlFragment(this.#questions)}`);
  }

  #requestPlan(): void {
    this.#newestQuestionId += 1;
    clearTimeout(this.#restartTimer);
    const questions = this.#questions;
    const invalid = firstInvalidFields(questions);
    const here = invalid?.at === questions.shownQuestionIndex;
    this.#form.showErrors(here ? invalid.wrong : new Map());
    if (invalid) {
      const of = here ? "" : ` of ${questionNames(questions.all)[invalid.at]}`;
      this.#showRefusalMessage(`Please correct the marked field${of}.`);
      return;
    }
    setBusy("verdict", true);
    this.#send({
      id: this.#newestQuestionId,
      plannerInput: plannerInput(questions),
      plottedQuestionIndex: questions.shownQuestionIndex,
    });
  }

  #send(asked: PlanRequest): void {
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(asked);
    this.#restartIfLate(asked);
  }

  /**
   * Replaces the worker thread if it does not begin with this question in time. A running
   * computation cannot be interrupted.
   */
  #restartIfLate(asked: PlanRequest): void {
    this.#restartTimer = setTimeout(() => {
      if (this.#workingQuestionId === asked.id) return;
      // The thread is still loading: wait again.
      if (this.#workingQuestionId === 0) return this.#restartIfLate(asked);
      this.#stopWorker();
      this.#send(asked);
    }, RESTART_AFTER_MS);
  }

  #stopWorker(): void {
    clearTimeout(this.#restartTimer);
    this.#worker?.terminate();
    this.#worker = null;
    this.#workingQuestionId = 0;
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<WorkerMessage>) =>
      this.#onMessage(data),
    );
    worker.addEventListener("error", ({ message }) =>
      this.#onMessage({ kind: "broken", message: message || "its thread could not be started" }),
    );
    return worker;
  }

  #onMessage(message: WorkerMessage): void {
    if (message.kind === "broken") {
      // The next question starts a new thread.
      this.#stopWorker();
      for (const id of ["verdict", "plots"]) setBusy(id, false);
      byId("trouble-text").textContent = `The planner cannot compute: ${message.message}.`;
      byId("trouble").hidden = false;
      return;
    }
    byId("trouble").hidden = true;
    if (message.kind === "begun") this.#workingQuestionId = message.id;
    const newest = message.id === this.#newestQuestionId;
    // While a slider moves, answers to older questions are shown. They never replace a refusal.
    if (!newest && (!this.#answer || message.kind === "refused")) return;
    switch (message.kind) {
      case "answer":
        this.#answer = message.answer;
        this.#plottedQuestionIndex = message.shown;
        this.#view.show(message.answer, message.question, message.shown);
        this.#curvesInProgress = NO_CURVES;
        setBusy("plots", true);
        if (newest) this.#markVerdictReady();
        break;
      case "refused":
        this.#showRefusal(message.refusal);
        break;
      case "point": {
        const { curve, point } = message;
        this.#curvesInProgress = {
          ...this.#curvesInProgress,
          [curve]: [...this.#curvesInProgress[curve], point],
        };
        if (this.#curvesInProgress[curve].length >= MIN_POINTS) {
          this.#shownCurves = { ...this.#shownCurves, [curve]: this.#curvesInProgress[curve] };
        }
        break;
      }
      case "done":
        setBusy("plots", false);
    }
    void this.#drawPlots();
  }

  #showRefusal({ field, question, message }: Refusal): void {
    const { all, shownQuestionIndex: shown } = this.#questions;
    // An error of a question that is not shown appears in the verdict only.
    const here = question === undefined || question === questionNames(all)[shown];
    const control = here
      ? fieldForError(field, shownQuestion(this.#questions), all.length === 1)
      : undefined;
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
    this.#form.showErrors(new Map(control === undefined ? [] : [[control, sentence]]));
    this.#showRefusalMessage(sentence);
  }

  #showRefusalMessage(message: string): void {
    this.#answer = null;
    this.#view.showRefusal(message);
    setBusy("plots", false);
    this.#markVerdictReady();
  }

  #markVerdictReady(): void {
    setBusy("verdict", false);
    document.documentElement.dataset.ready = "true";
  }

  async #drawPlots(): Promise<void> {
    if (!this.#answer || isSumPlan(this.#answer)) return;
    // The plotting library is large. The first numbers do not wait for it.
    if (!this.#plots) {
      const { Plots } = await import("./plots.js");
      this.#plots ??= new Plots();
    }
    // Several calls may await the import, so read the state after it.
    const answer = this.#answer;
    if (!answer || isSumPlan(answer)) return;
    const here = {
      epsilon: curvePointOf(answer.epsilon, answer, this.#plottedQuestionIndex),
      people: curvePointOf(answer.people, answer, this.#plottedQuestionIndex),
    };
    const partial = byId("plots").getAttribute("aria-busy") === "true";
    this.#plots.show({ planPoints: here, curves: this.#shownCurves, morePointsFollow: partial });
  }
}

function setBusy(id: string, is: boolean): void {
  byId(id).setAttribute("aria-busy", String(is));
}

new PlannerPage().start();
