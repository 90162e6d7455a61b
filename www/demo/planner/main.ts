// The planner's page: carries questions to the thread and answers to the views.

import type { Refusal } from "../shared/analysis.js";
import { byId } from "../shared/dom.js";
import { AnswerView, taskFile } from "./answer.js";
import { type CurveName, isSumPlan, type Point, pointOf, type Reply } from "./curves.js";
import type { Asked } from "./desk.js";
import { Form } from "./form.js";
import type { Plots } from "./plots.js";
import {
  askingOf,
  firstUnusable,
  fragmentOfAll,
  namesOf,
  type Several,
  severalOf,
  shown,
} from "./several.js";
import { controlOf } from "./state.js";
import { copy, download } from "./taking.js";
import type { Said } from "./worker.js";

/** Delay in ms before settings go to the URL. Browsers limit the rate of such changes. */
const SETTLED_MS = 300;
/** Time in ms for which an older question may delay the newest one. */
const PATIENCE_MS = 1500;
/** Number of points at which a new curve replaces the old one. */
const ENOUGH = 6;

type Curves = Record<CurveName, readonly Point[]>;
const NONE: Curves = { epsilon: [], people: [] };

class Planner {
  #several = severalOf(location.hash);
  readonly #form = new Form(this.#several, (several) => this.#change(several));
  readonly #view = new AnswerView();
  #worker: Worker | null = null;
  /** Number of the newest question. */
  #id = 0;
  /** Number of the question that the thread works on; 0 if it has not begun. */
  #begun = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #answer: Reply | null = null;
  /** Index of the question whose errors are plotted. */
  #shown = 0;
  #plots: Plots | null = null;
  #curves: Curves = NONE;
  #coming: Curves = NONE;
  #saving: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    addEventListener("hashchange", () => {
      this.#several = severalOf(location.hash);
      this.#form.show(this.#several);
      this.#ask();
    });
    byId("form").addEventListener("submit", (event) => event.preventDefault());
    byId("copy").addEventListener("click", () => {
      if (this.#answer) void copy(taskFile(this.#answer), "The task file is copied.");
    });
    byId("copy-link").addEventListener("click", () => {
      this.#save();
      void copy(location.href, "The link is copied.");
    });
    byId("download").addEventListener("click", () => {
      if (this.#answer) download(`${this.#answer.task.id}.json`, taskFile(this.#answer));
    });
    this.#ask();
  }

  #change(several: Several): void {
    this.#several = several;
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), SETTLED_MS);
    this.#ask();
  }

  #save(): void {
    clearTimeout(this.#saving);
    history.replaceState(null, "", `#${fragmentOfAll(this.#several)}`);
  }

  #ask(): void {
    this.#id += 1;
    clearTimeout(this.#waiting);
    const several = this.#several;
    const unusable = firstUnusable(several);
    const here = unusable?.at === several.at;
    this.#form.blame(here ? unusable.wrong : new Map());
    if (unusable) {
      const of = here ? "" : ` of ${namesOf(several.all)[unusable.at]}`;
      this.#refuse(`Please correct the marked field${of}.`);
      return;
    }
    busy("verdict", true);
    this.#hand({ id: this.#id, question: askingOf(several), shown: several.at });
  }

  #hand(asked: Asked): void {
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(asked);
    this.#expect(asked);
  }

  /** Replaces the thread if it does not begin in time. A computation cannot be interrupted. */
  #expect(asked: Asked): void {
    this.#waiting = setTimeout(() => {
      if (this.#begun === asked.id) return;
      // The thread is still loading: wait again.
      if (this.#begun === 0) return this.#expect(asked);
      this.#stopWorker();
      this.#hand(asked);
    }, PATIENCE_MS);
  }

  #stopWorker(): void {
    clearTimeout(this.#waiting);
    this.#worker?.terminate();
    this.#worker = null;
    this.#begun = 0;
  }

  #startWorker(): Worker {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<Said>) => this.#hear(data));
    worker.addEventListener("error", ({ message }) =>
      this.#hear({ kind: "broken", message: message || "its thread could not be started" }),
    );
    return worker;
  }

  #hear(said: Said): void {
    if (said.kind === "broken") {
      // The next question starts a new thread.
      this.#stopWorker();
      for (const id of ["verdict", "plots"]) busy(id, false);
      byId("trouble-text").textContent = `The planner cannot compute: ${said.message}.`;
      byId("trouble").hidden = false;
      return;
    }
    byId("trouble").hidden = true;
    if (said.kind === "begun") this.#begun = said.id;
    const newest = said.id === this.#id;
    // While a slider moves, answers to older questions are shown. They never replace a refusal.
    if (!newest && (!this.#answer || said.kind === "refused")) return;
    switch (said.kind) {
      case "answer":
        this.#answer = said.answer;
        this.#shown = said.shown;
        this.#view.show(said.answer, said.question, said.shown);
        this.#coming = NONE;
        busy("plots", true);
        if (newest) this.#settle();
        break;
      case "refused":
        this.#blame(said.refusal);
        break;
      case "point": {
        const { curve, point } = said;
        this.#coming = { ...this.#coming, [curve]: [...this.#coming[curve], point] };
        if (this.#coming[curve].length >= ENOUGH) {
          this.#curves = { ...this.#curves, [curve]: this.#coming[curve] };
        }
        break;
      }
      case "done":
        busy("plots", false);
    }
    void this.#draw();
  }

  #blame({ field, question, message }: Refusal): void {
    const { all, at } = this.#several;
    // An error of a question that is not shown appears in the verdict only.
    const here = question === undefined || question === namesOf(all)[at];
    const control = here ? controlOf(field, shown(this.#several), all.length === 1) : undefined;
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
    this.#form.blame(new Map(control === undefined ? [] : [[control, sentence]]));
    this.#refuse(sentence);
  }

  #refuse(message: string): void {
    this.#answer = null;
    this.#view.refuse(message);
    busy("plots", false);
    this.#settle();
  }

  #settle(): void {
    busy("verdict", false);
    document.documentElement.dataset.ready = "true";
  }

  async #draw(): Promise<void> {
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
      epsilon: pointOf(answer.epsilon, answer, this.#shown),
      people: pointOf(answer.people, answer, this.#shown),
    };
    const partial = byId("plots").getAttribute("aria-busy") === "true";
    this.#plots.show({ here, curves: this.#curves, partial });
  }
}

function busy(id: string, is: boolean): void {
  byId(id).setAttribute("aria-busy", String(is));
}

new Planner().start();
