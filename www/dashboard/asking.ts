// Requests for estimates: all items of a question, or the items that match a search.

import type { Collector, Estimates, Question } from "./api.js";
import { itemsOf } from "./labels.js";
import { matches } from "./rows.js";

/** Maximum number of items to request at once. Each takes about 500 bytes of the response. */
export const WHOLE = 5000;
/** Maximum number of rows to draw, and of items to request by name. */
export const DRAWN = 200;
/** Maximum size of all item names in one request's address, in bytes. */
const NAMED = 8000;

/** Parameters of a request for estimates, apart from the question's name. */
export interface Asked {
  readonly batches: string | null;
  readonly confidence: number;
  /** Names of items. `null` means all items. */
  readonly items: readonly string[] | null;
}

/**
 * Returns the items to request. `null` means all items. An empty list means that the user has to
 * enter names first.
 */
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

/** Returns as many of the first names as fit into one request's address. */
function fitting(names: readonly string[]): readonly string[] {
  let bytes = 0;
  const over = names.findIndex((name) => {
    bytes += encodeURIComponent(name).length + 1;
    return bytes > NAMED;
  });
  return names.slice(0, over === -1 ? DRAWN : Math.min(over, DRAWN));
}

/** Returns the path that requests the estimates of a question. */
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

  /** Removes all estimates from the cache. */
  forget(): void {
    this.#kept.clear();
  }

  /**
   * Requests the estimates of a question, or returns them from the cache.
   *
   * @param released numbers of the released batches; part of the cache key if all batches are
   * requested
   */
  estimates(task: string, question: Question, asked: Asked, released: string): Promise<Estimates> {
    const path = pathOf(task, question, asked);
    const key = `${path} ${asked.batches === null ? released : ""}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const answer = this.#collector.ask<Estimates>(path);
    this.#kept.set(key, answer);
    // Failures are removed from the cache, so that the next request tries again.
    answer.catch(() => this.#kept.delete(key));
    // At most 60 responses are kept; a Map lists the oldest entry first.
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > 60 && oldest !== undefined) this.#kept.delete(oldest);
    return answer;
  }
}
