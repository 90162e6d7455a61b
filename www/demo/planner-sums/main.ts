// The page that plans sums: carries drafts to the thread and plans to the view.

import { copy, download } from "../planner/taking.js";
import type { Refusal, SumPlan } from "../shared/analysis.js";
import { byId } from "../shared/dom.js";
import { Form } from "./form.js";
import { controlOf, draftOf, fragmentOf, type State, stateOf, unusable } from "./state.js";
import { PlanView, taskFile } from "./view.js";
import type { Asked, Said } from "./worker.js";

/** How long the state stands before it goes to the URL: browsers limit how often. */
const SETTLED_MS = 300;
/** How long an answer to an older draft may hold up the newest one. */
const PATIENCE_MS = 1500;

class SumsPlanner {
  #state = stateOf(location.hash);
  readonly #form = new Form(this.#state, (state) => this.#change(state));
  readonly #view = new PlanView();
  #worker: Worker | null = null;
  /** Whether the thread has said anything, and so is loaded. */
  #heard = false;
  /** Of the newest draft. */
  #id = 0;
  /** Of the drafts that are not answered yet, the oldest. */
  #waiting: ReturnType<typeof setTimeout> | undefined;
  #plan: SumPlan | null = null;
  #saving: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    addEventListener("hashchange", () => {
      this.#state = stateOf(location.hash);
      this.#form.show(this.#state);
      this.#ask();
    });
    byId("form").addEventListener("submit", (event) => event.preventDefault());
    byId("copy").addEventListener("click", () => {
      if (this.#plan) void copy(taskFile(this.#plan), "The task file is copied.");
    });
    byId("copy-link").addEventListener("click", () => {
      this.#save();
      void copy(location.href, "The link is copied.");
    });
    byId("download").addEventListener("click", () => {
      if (this.#plan) download(`${this.#plan.task.id}.json`, taskFile(this.#plan));
    });
    this.#ask();
  }

  #change(state: State): void {
    this.#state = state;
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), SETTLED_MS);
    this.#ask();
  }

  #save(): void {
    clearTimeout(this.#saving);
    history.replaceState(null, "", `#${fragmentOf(this.#state)}`);
  }

  #ask(): void {
    this.#id += 1;
    const wrong = unusable(this.#state);
    this.#form.blame(wrong);
    if (wrong.size > 0) {
      this.#refuse("There is something to mend: see the field that says so.");
      return;
    }
    byId("verdict").setAttribute("aria-busy", "true");
    this.#hand({ id: this.#id, draft: draftOf(this.#state) });
  }

  #hand(asked: Asked): void {
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage(asked);
    this.#expect(asked);
  }

  /** What is being computed cannot be interrupted, only left: for a newer draft. */
  #expect(asked: Asked): void {
    if (this.#waiting !== undefined) return;
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined;
      if (asked.id === this.#id || !this.#heard) return;
      this.#stopWorker();
      this.#hand({ id: this.#id, draft: draftOf(this.#state) });
    }, PATIENCE_MS);
  }

  #stopWorker(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    this.#worker?.terminate();
    this.#worker = null;
    this.#heard = false;
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
      // The next draft starts afresh.
      this.#stopWorker();
      byId("verdict").setAttribute("aria-busy", "false");
      byId("trouble-text").textContent = `The planner cannot compute: ${said.message}.`;
      byId("trouble").hidden = false;
      return;
    }
    this.#heard = true;
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    byId("trouble").hidden = true;
    const newest = said.id === this.#id;
    if (said.kind === "plan") {
      // Also while a slider moves on: something is to be seen.
      if (newest || unusable(this.#state).size === 0) {
        this.#plan = said.plan;
        this.#view.show(said.plan);
      }
    } else if (newest) {
      this.#blame(said.refusal);
      return;
    }
    if (newest) this.#settle();
  }

  #blame({ field, message }: Refusal): void {
    const control = controlOf(field, this.#state);
    const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
    this.#form.blame(new Map(control === undefined ? [] : [[control, sentence]]));
    this.#refuse(sentence);
  }

  #refuse(message: string): void {
    this.#view.refuse(message);
    this.#settle();
  }

  #settle(): void {
    byId("verdict").setAttribute("aria-busy", "false");
    document.documentElement.dataset.ready = "true";
  }
}

new SumsPlanner().start();
