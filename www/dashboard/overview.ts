// All tasks: what is released of each, and how far the open batch is.

import { el } from "../demo/shared/dom.js";
import { count } from "../demo/shared/format.js";
import type { Batches, Collector } from "./api.js";
import { brief, releasedOf, reportsOf } from "./filling.js";
import { moment } from "./labels.js";
import { NOTHING, write } from "./state.js";
import { table } from "./table.js";

/** Tasks whose batches are asked for. */
const MOST = 50;

export class Overview {
  readonly element: HTMLElement;
  readonly #collector: Collector;
  readonly #tasks: readonly string[];
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
        el(
          "p",
          {},
          "Nothing is collected here yet. An admin makes a task, by a task file or POST /tasks.",
        ),
      );
    }
  }

  async update(): Promise<void> {
    const asked = this.#tasks.slice(0, MOST).map(async (id) => {
      const batches = await this.#collector.askIfThere<Batches>(
        `${encodeURIComponent(id)}/batches`,
      );
      return [id, batches] as const;
    });
    const found = new Map(await Promise.all(asked));
    const rows = this.#tasks.map((id) => {
      const link = el("a", { href: write({ ...NOTHING, task: id }) }, id);
      const batches = found.get(id);
      const name = { shown: link, style: "name" };
      if (!batches) return [name, "", "", "", ""];
      const released = releasedOf(batches);
      const last = released[released.length - 1]?.closed;
      return [
        name,
        { shown: count(reportsOf(released)), style: "amount" },
        { shown: count(released.length), style: "amount" },
        last === undefined ? "none yet" : moment(last),
        { shown: brief(batches), style: "brief" },
      ];
    });
    if (rows.length === 0) return;
    const amount = (shown: string) => ({ shown, style: "amount" });
    const heads = ["Task", amount("Released reports"), amount("Releases"), "Latest", "Open batch"];
    // Focus on a link stays where it is while numbers change.
    const focused = this.#tasks.indexOf(document.activeElement?.textContent ?? "");
    this.#body.replaceChildren(table("What is collected", heads, rows, "tasks"));
    if (focused >= 0) this.#body.querySelectorAll("a")[focused]?.focus();
  }
}
