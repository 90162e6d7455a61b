// Requests for estimates: all items of a question, or the items that match a search.

import type { Collector, Estimates, Question } from "./api.js";
import { itemsOf } from "./labels.js";
import { matches } from "./rows.js";

/** Largest number of items to request at once. Each takes about 500 bytes. */
export const WHOLE = 5000;
/** Largest number of rows to draw, and of items to request by name. */
export const DRAWN = 200;
/** Largest size of all names in one address, in bytes. */
const NAMED = 8000;

/** Parameters of a request for estimates, apart from the question's name. */
export interface Asked {
  readonly batches: string | null;
  readonly confidence: number;
  /** Names of items. `null` means all items. */
  readonly items: readonly string[] | null;
}

/** Returns the items to request. `null` means all. An empty list means: enter names first. */
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

/** Returns the first names that fit into one address. */
function fitting(names: readonly string[]): readonly string[] {
  let bytes = 0;
  const over = names.findIndex((name) => {
    bytes += encodeURIComponent(name).length + 1;
    return bytes > NAMED;
  });
  return names.slice(0, over === -1 ? DRAWN : Math.min(over, DRAWN));
}

/** Returns the path of the estimates of a question. */
export function pathOf(task: string, question: Question, asked: Asked): string {
  const query = [`confidence=${Number(asked.confidence.toPrecision(12))}`];
  if (question.name !== undefined) query.push(`question=${encodeURIComponent(question.name)}`);
  if (asked.batches !== null) query.push(`batches=${asked.batches}`);
  if (asked.items !== null) query.push(`items=${asked.items.map(encodeURIComponent).join(",")}`);
  return `${encodeURIComponent(task)}/estimates?${query.join("&")}`;
}

/** Cache of estimates. Released batches never change, so each is requested once. */
export class Answers {
  readonly #collector: Collector;
  readonly #kept = new Map<string, Promise<Estimates>>();

  constructor(collector: Collector) {
    this.#collector = collector;
  }

  /** Empties the cache. */
  forget(): void {
    this.#kept.clear();
  }

  /** @param released numbers of the released batches, part of the key for requests about all */
  estimates(task: string, question: Question, asked: Asked, released: string): Promise<Estimates> {
    const path = pathOf(task, question, asked);
    const key = `${path} ${asked.batches === null ? released : ""}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const answer = this.#collector.ask<Estimates>(path);
    this.#kept.set(key, answer);
    // Failures are not kept, so that the next request tries again. The cache stays small.
    answer.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > 60 && oldest !== undefined) this.#kept.delete(oldest);
    return answer;
  }
}
