// The overview of all tasks: the releases of each task, and the progress of its open batch.

import { displayedName } from "../client/displayed-name.js";
import { el } from "../demo/shared/dom.js";
import { formatCount } from "../demo/shared/format.js";
import {
  type BatchesResponse,
  type CollectorClient,
  isSumTaskResponse,
  type TaskResponse,
} from "./api.js";
import { batchUnitOf, formatWithUnit, REPORT_UNIT } from "./batch-unit.js";
import { drawOpenBatchBar, releasedBatches, totalReports } from "./batches-view.js";
import { formatTime } from "./labels.js";
import { DEFAULT_STATE, viewStateToFragment } from "./state.js";
import { NO_LOCAL_EPSILON_TEXT } from "./sums.js";
import { createTable } from "./table.js";

/** Maximum number of tasks whose batches are requested. */
const MAX_TASKS_WITH_BATCHES = 50;

export class TaskListView {
  readonly element: HTMLElement;
  readonly #collector: CollectorClient;
  readonly #taskIds: readonly string[];
  /** Task files by id, each requested once because it never changes. */
  readonly #answers = new Map<string, Promise<TaskResponse | null>>();
  readonly #body = el("div", { class: "panel wide" });

  constructor(collector: CollectorClient, tasks: readonly string[]) {
    this.#collector = collector;
    this.#taskIds = tasks;
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

  #getTask(id: string): Promise<TaskResponse | null> {
    const known = this.#answers.get(id);
    if (known !== undefined) return known;
    const answer = this.#collector.getFromTasksOrNull<TaskResponse>(encodeURIComponent(id));
    this.#answers.set(id, answer);
    answer.catch(() => this.#answers.delete(id));
    return answer;
  }

  async reloadBatches(): Promise<void> {
    const asked = this.#taskIds.slice(0, MAX_TASKS_WITH_BATCHES).map(async (id) => {
      const path = encodeURIComponent(id);
      const [batches, task] = await Promise.all([
        this.#collector.getFromTasksOrNull<BatchesResponse>(`${path}/batches`),
        this.#getTask(id),
      ]);
      return [id, batches && { batches, task }] as const;
    });
    const found = new Map(await Promise.all(asked));
    const rows = this.#taskIds.map((id) => {
      const link = el(
        "a",
        { href: viewStateToFragment({ ...DEFAULT_STATE, task: id }) },
        displayedName(id),
      );
      const own = found.get(id);
      if (!own) return [{ content: link, style: "name" }, "", "", "", ""];
      const { batches, task } = own;
      const unit = task === null ? REPORT_UNIT : batchUnitOf(task.task);
      const sums = task !== null && isSumTaskResponse(task);
      const kind = task?.task.questions === undefined ? "sums" : "answers counted";
      const note = sums
        ? [el("span", { class: "kind" }, `${kind} through a shuffler; ${NO_LOCAL_EPSILON_TEXT}`)]
        : [];
      const name = { content: el("span", {}, link, ...note), style: "name" };
      const released = releasedBatches(batches);
      const last = released[released.length - 1]?.closed;
      return [
        name,
        {
          content: sums
            ? formatWithUnit(unit, totalReports(released))
            : formatCount(totalReports(released)),
          style: "amount",
        },
        { content: formatCount(released.length), style: "amount" },
        last === undefined ? "none yet" : formatTime(last),
        { content: drawOpenBatchBar(batches, unit), style: "brief" },
      ];
    });
    if (rows.length === 0) return;
    const amount = (content: string) => ({ content, style: "amount" });
    const heads = [
      "Task",
      amount("Released reports"),
      amount("Releases"),
      "Latest release",
      "Open batch",
    ];
    // A link keeps its focus while the table is replaced.
    const text = document.activeElement?.textContent ?? "";
    const focused = this.#taskIds.findIndex((id) => displayedName(id) === text);
    this.#body.replaceChildren(createTable("Tasks", heads, rows, "tasks"));
    if (focused >= 0) this.#body.querySelectorAll("a")[focused]?.focus();
  }
}
