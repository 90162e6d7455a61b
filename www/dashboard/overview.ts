// Overview of all tasks: releases, and the progress of the open batch.

import { el } from "../demo/shared/dom.js";
import { count } from "../demo/shared/format.js";
import { type Batches, type Collector, isSums, type TaskAnswer } from "./api.js";
import { countingOf, REPORTS, said } from "./counting.js";
import { brief, releasedOf, reportsOf } from "./filling.js";
import { moment } from "./labels.js";
import { NOTHING, write } from "./state.js";
import { NO_LOCAL } from "./sums.js";
import { table } from "./table.js";

/** Maximum number of tasks whose batches are requested. */
const MOST = 50;

export class Overview {
  readonly element: HTMLElement;
  readonly #collector: Collector;
  readonly #tasks: readonly string[];
  /** Task files by id. They never change. */
  readonly #known = new Map<string, Promise<TaskAnswer | null>>();
  readonly #body = el("div", { class: "panel wide" });

  constructor(collector: Collector, tasks: readonly string[]) {
    this.#collector = collector;
    this.#tasks = tasks;
    this.element = el(
      "div",
      { class: "overview" },
      el("h1", { tabindex: -1 }, "Tasks"),
      this.#body,
    );
    if (tasks.length === 0) {
      this.#body.append(
        el("p", {}, "No task yet. An admin adds one with a task file or with POST /tasks."),
      );
    }
  }

  #taskOf(id: string): Promise<TaskAnswer | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const answer = this.#collector.askIfThere<TaskAnswer>(encodeURIComponent(id));
    this.#known.set(id, answer);
    answer.catch(() => this.#known.delete(id));
    return answer;
  }

  async update(): Promise<void> {
    const asked = this.#tasks.slice(0, MOST).map(async (id) => {
      const path = encodeURIComponent(id);
      const [batches, task] = await Promise.all([
        this.#collector.askIfThere<Batches>(`${path}/batches`),
        this.#taskOf(id),
      ]);
      return [id, batches && { batches, task }] as const;
    });
    const found = new Map(await Promise.all(asked));
    const rows = this.#tasks.map((id) => {
      const link = el("a", { href: write({ ...NOTHING, task: id }) }, id);
      const own = found.get(id);
      if (!own) return [{ shown: link, style: "name" }, "", "", "", ""];
      const { batches, task } = own;
      const counting = task === null ? REPORTS : countingOf(task.task);
      const sums = task !== null && isSums(task);
      const note = sums
        ? [el("span", { class: "kind" }, `sums through a shuffler; ${NO_LOCAL}`)]
        : [];
      const name = { shown: el("span", {}, link, ...note), style: "name" };
      const released = releasedOf(batches);
      const last = released[released.length - 1]?.closed;
      return [
        name,
        {
          shown: sums ? said(counting, reportsOf(released)) : count(reportsOf(released)),
          style: "amount",
        },
        { shown: count(released.length), style: "amount" },
        last === undefined ? "none yet" : moment(last),
        { shown: brief(batches, counting), style: "brief" },
      ];
    });
    if (rows.length === 0) return;
    const amount = (shown: string) => ({ shown, style: "amount" });
    const heads = [
      "Task",
      amount("Released reports"),
      amount("Releases"),
      "Latest release",
      "Open batch",
    ];
    // A link keeps its focus while the table is replaced.
    const focused = this.#tasks.indexOf(document.activeElement?.textContent ?? "");
    this.#body.replaceChildren(table("Tasks", heads, rows, "tasks"));
    if (focused >= 0) this.#body.querySelectorAll("a")[focused]?.focus();
  }
}
