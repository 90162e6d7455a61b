// What of a question is asked: all of it, or of many items those that are sought.

import type { Collector, Estimates, Question } from "./api.js";
import { itemsOf } from "./labels.js";
import { matches } from "./rows.js";

/** Items of which all are asked for: some 500 bytes each. */
export const WHOLE = 5000;
/** Rows that are drawn at once, and items that are asked for by name. */
export const DRAWN = 200;
/** Bytes of names in one address. */
const NAMED = 8000;

/** What is asked of a question beside its name. */
export interface Asked {
  readonly batches: string | null;
  readonly confidence: number;
  /** Names of items; all if null. */
  readonly items: readonly string[] | null;
}

/** The items to ask for; null for all of them, none where names have to be sought first. */
export function itemsToAsk(question: Question, find: string): readonly string[] | null {
  const items = question.items ?? question.options;
  if (items === "open") {
    return fitting(
      find
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    );
  }
  if ((itemsOf(question) ?? 0) <= WHOLE || items === undefined) return null;
  const sought = find.trim();
  const found: string[] = [];
  const size = typeof items === "number" ? items : items.length;
  for (let index = 0; index < size && found.length < DRAWN; index += 1) {
    const name = typeof items === "number" ? String(index) : (items[index] ?? "");
    if (matches(name, sought)) found.push(name);
  }
  return fitting(found);
}

/** As many names as one address may hold. */
function fitting(names: readonly string[]): readonly string[] {
  let bytes = 0;
  const over = names.findIndex((name) => {
    bytes += encodeURIComponent(name).length + 1;
    return bytes > NAMED;
  });
  return names.slice(0, over === -1 ? DRAWN : Math.min(over, DRAWN));
}

/** The path of estimates. */
export function pathOf(task: string, question: Question, asked: Asked): string {
  const query = [`confidence=${Number(asked.confidence.toPrecision(12))}`];
  if (question.name !== undefined) query.push(`question=${encodeURIComponent(question.name)}`);
  if (asked.batches !== null) query.push(`batches=${asked.batches}`);
  if (asked.items !== null) query.push(`items=${asked.items.map(encodeURIComponent).join(",")}`);
  return `${encodeURIComponent(task)}/estimates?${query.join("&")}`;
}

/** Estimates of released batches, which never change, and so are asked for once. */
export class Answers {
  readonly #collector: Collector;
  readonly #kept = new Map<string, Promise<Estimates>>();

  constructor(collector: Collector) {
    this.#collector = collector;
  }

  /** Asks anew for what is asked for again. */
  forget(): void {
    this.#kept.clear();
  }

  /** @param released which batches there are, for what is asked of all of them */
  estimates(task: string, question: Question, asked: Asked, released: string): Promise<Estimates> {
    const path = pathOf(task, question, asked);
    const key = `${path} ${asked.batches === null ? released : ""}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const answer = this.#collector.ask<Estimates>(path);
    this.#kept.set(key, answer);
    // A failure is no answer; nor are more kept than a tab should hold.
    answer.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > 60 && oldest !== undefined) this.#kept.delete(oldest);
    return answer;
  }
}
