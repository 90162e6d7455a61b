// Links between the labels of a task.

import { displayedName } from "../client/displayed-name.js";
import { el } from "../demo/shared/dom.js";
import { DEFAULT_STATE, viewStateToFragment } from "./state.js";

/**
 * Returns links to the other labels of a task, which show the same question. Returns undefined if
 * the task has no labels.
 */
export function labelLinks(
  id: string,
  taskIds: readonly string[],
  question: string | null,
): HTMLElement | undefined {
  const [name, label] = id.split(":");
  if (label === undefined) return undefined;
  const siblings = taskIds.filter((own) => own.startsWith(`${name}:`));
  const items = siblings.map((own) => {
    const text = displayedName(own.slice(own.indexOf(":") + 1));
    const href = viewStateToFragment({ ...DEFAULT_STATE, task: own, question });
    const current = own === id ? ({ "aria-current": "page" } as const) : {};
    return el("li", {}, el("a", { href, ...current }, text));
  });
  const about = el("p", {}, "Each label has its own reports and estimates:");
  return el("nav", { class: "labels", "aria-label": "Labels" }, about, el("ul", {}, ...items));
}
