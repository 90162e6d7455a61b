// What the page currently shows. It is stored in the fragment of the address, so that people can
// bookmark it. The fragment contains no token.

import { ESTIMANDS, type Estimand } from "./api.js";
import { ORDERS, type RowOrder } from "./rows.js";

export interface ViewState {
  readonly task: string | null;
  readonly question: string | null;
  /**
   * Numbers of the selected batches, in the format of a request: "3" or "1,4-6". `null` means all
   * released batches.
   */
  readonly batches: string | null;
  readonly estimand: Estimand | null;
  readonly order: RowOrder;
  /** Text for which the names of items are searched. */
  readonly find: string;
}

export const DEFAULT_STATE: ViewState = {
  task: null,
  question: null,
  batches: null,
  estimand: null,
  order: "largest",
  find: "",
};

/** Parses the fragment of an address. Invalid parts are ignored. */
export function viewStateFromFragment(hash: string): ViewState {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const one = <T extends string>(name: string, of: readonly T[]) =>
    of.find((word) => word === parameters.get(name));
  const batches = parameters.get("batches");
  return {
    task: parameters.get("task"),
    question: parameters.get("question"),
    batches: batches !== null && /^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(batches) ? batches : null,
    estimand: one("estimand", ESTIMANDS) ?? null,
    order: one("order", ORDERS) ?? DEFAULT_STATE.order,
    find: parameters.get("find") ?? "",
  };
}

/**
 * Returns the fragment of the address for a state. It contains the values that differ from {@link
 * DEFAULT_STATE}.
 */
export function viewStateToFragment(state: ViewState): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value !== null && value !== DEFAULT_STATE[name as keyof ViewState])
      parameters.set(name, value);
  }
  return parameters.size === 0 ? "" : `#${parameters}`;
}
