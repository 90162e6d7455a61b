/** Labels of tasks. A label is the public group of a report, such as the variant of an experiment. */

import { OptionError } from "./errors.js";

/** Fields of a task that labels concern. */
interface LabelledFields {
  readonly id: string;
  readonly labels?: readonly string[];
}

/** Pattern of the id of a task, with or without a label. */
export const TASK_ID = /^[a-z0-9][a-z0-9-]{0,63}(:[A-Za-z0-9][\w.-]{0,31})?$/;

/**
 * Returns the task of one label: its id has the label at the end. Returns a task without labels
 * unchanged if no label is given.
 *
 * @param isKnown true if a task without a list of labels may have this label
 * @throws OptionError if the label is not one of the task's
 */
export function taskOfLabel<T extends LabelledFields>(
  { labels, ...task }: T,
  label: string | undefined,
  isKnown = false,
): Omit<T, "labels"> {
  if (labels === undefined && label === undefined) {
    return task;
  }
  if (!(labels?.includes(label as string) ?? isKnown)) {
    throw new OptionError("label", label, labels?.join(", ") ?? "none");
  }
  return { ...task, id: `${task.id}:${label}` };
}
