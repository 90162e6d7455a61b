// Requests for estimates of all items of a question, or of the items that match a search.

import type { CollectorClient, EstimatesResponse, Question } from "./api.js";
import { itemCount } from "./labels.js";
import { matchesSearch } from "./rows.js";

/**
 * Maximum number of items for which all estimates are requested at once. Each item takes about 500
 * bytes of the response.
 */
export const MAX_ALL_ITEMS = 5000;
/** Maximum number of rows to draw, and of items that one request names. */
export const MAX_ROWS = 200;
/** Maximum size in bytes of all item names in the address of one request. */
const MAX_NAME_BYTES = 8000;

/** Parameters of a request for the estimates of a question, apart from the question's name. */
export interface EstimatesQuery {
  readonly batches: string | null;
  readonly confidence: number;
  /** Names of the requested items. `null` means all items. */
  readonly items: readonly string[] | null;
}

/**
 * Returns the names of the items to request, given the searched text `find`. `null` means all
 * items. The list is empty if the person has to enter names first.
 */
export function itemsToRequest(question: Question, find: string): readonly string[] | null {
  const items = question.items ?? question.options;
  if (items === "open") {
    return namesFittingAddress(
      find
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name !== ""),
    );
  }
  if ((itemCount(question) ?? 0) <= MAX_ALL_ITEMS || items === undefined) return null;
  const sought = find.trim();
  const found: string[] = [];
  const size = typeof items === "number" ? items : items.length;
  for (let index = 0; index < size && found.length < MAX_ROWS; index += 1) {
    const name = typeof items === "number" ? String(index) : (items[index] ?? "");
    if (matchesSearch(name, sought)) found.push(name);
  }
  return namesFittingAddress(found);
}

/**
 * Returns the first names: as many as fit into the address of one request, and at most {@link
 * MAX_ROWS}.
 */
function namesFittingAddress(names: readonly string[]): readonly string[] {
  let bytes = 0;
  const over = names.findIndex((name) => {
    bytes += encodeURIComponent(name).length + 1;
    return bytes > MAX_NAME_BYTES;
  });
  return names.slice(0, over === -1 ? MAX_ROWS : Math.min(over, MAX_ROWS));
}

/** Returns the path of the request for the estimates of a question. */
export function estimatesPath(task: string, question: Question, query: EstimatesQuery): string {
  const parameters = [`confidence=${Number(query.confidence.toPrecision(12))}`];
  // A sum task has one question, which its requests do not name.
  if (question.name !== undefined && !question.counted)
    parameters.push(`question=${encodeURIComponent(question.name)}`);
  if (query.batches !== null) parameters.push(`batches=${query.batches}`);
  if (query.items !== null)
    parameters.push(`items=${query.items.map(encodeURIComponent).join(",")}`);
  return `${encodeURIComponent(task)}/estimates?${parameters.join("&")}`;
}

/**
 * Returns estimates of counted answers in the form of estimates from reports: a mean is a share of
 * people, and a bin is labelled by its range instead of its index.
 */
export function withShares(answer: EstimatesResponse): EstimatesResponse {
  const { range = [0, 0], distribution = [] } = answer.number ?? {};
  const edges = [range[0], ...distribution.map(({ below }) => below), range[1]];
  const bin = (index: number) => ({ from: edges[index] ?? 0, to: edges[index + 1] ?? 0 });
  const estimates = answer.estimates.map(({ item, mean, ...rest }) => ({
    ...rest,
    item: answer.number !== undefined && typeof item === "number" ? bin(item) : item,
    ...(mean && { share: mean }),
  }));
  return { ...answer, estimates };
}

/**
 * Cache of the collector's estimates. Released batches never change, so each response is requested
 * once.
 */
export class EstimatesCache {
  readonly #collector: CollectorClient;
  readonly #responses = new Map<string, Promise<EstimatesResponse>>();

  constructor(collector: CollectorClient) {
    this.#collector = collector;
  }

  /** Removes all estimates from the cache. */
  clear(): void {
    this.#responses.clear();
  }

  /**
   * Returns the estimates of a question, from the cache or else from the collector.
   *
   * @param released numbers of the released batches; part of the cache key if all batches are
   * requested
   */
  getEstimates(
    task: string,
    question: Question,
    query: EstimatesQuery,
    released: string,
  ): Promise<EstimatesResponse> {
    const path = estimatesPath(task, question, query);
    const key = `${path} ${query.batches === null ? released : ""}`;
    const kept = this.#responses.get(key);
    if (kept !== undefined) return kept;
    const answer = this.#collector
      .getFromTasks<EstimatesResponse>(path)
      .then((own) => (question.counted ? withShares(own) : own));
    this.#responses.set(key, answer);
    // Failures are removed from the cache, so that the next request tries again.
    answer.catch(() => this.#responses.delete(key));
    // At most 60 responses are kept; a Map lists the oldest entry first.
    const [oldest] = this.#responses.keys();
    if (this.#responses.size > 60 && oldest !== undefined) this.#responses.delete(oldest);
    return answer;
  }
}
