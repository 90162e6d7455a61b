// What is looked at, in the address: so it can be kept and sent. Never who looks at it.

import { ESTIMANDS, type Estimand } from "./api.js";
import { ORDERS, type Order } from "./rows.js";

export interface State {
  readonly task: string | null;
  readonly question: string | null;
  /** As the collector is asked for them: "3" or "1,4-6"; all that are released if null. */
  readonly batches: string | null;
  readonly estimand: Estimand | null;
  readonly order: Order;
  /** Words of names. */
  readonly find: string;
}

export const NOTHING: State = {
  task: null,
  question: null,
  batches: null,
  estimand: null,
  order: "largest",
  find: "",
};

/** Of the part of an address behind "#"; what has no meaning is left out. */
export function read(hash: string): State {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const one = <T extends string>(name: string, of: readonly T[]) =>
    of.find((word) => word === said.get(name));
  const batches = said.get("batches");
  return {
    task: said.get("task"),
    question: said.get("question"),
    batches: batches !== null && /^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(batches) ? batches : null,
    estimand: one("estimand", ESTIMANDS) ?? null,
    order: one("order", ORDERS) ?? NOTHING.order,
    find: said.get("find") ?? "",
  };
}

/** The part behind "#": what differs from {@link NOTHING}. */
export function write(state: State): string {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (value !== null && value !== NOTHING[name as keyof State]) said.set(name, value);
  }
  return said.size === 0 ? "" : `#${said}`;
}
