// A client for the part of the collector's HTTP interface that the page uses directly.

import type { RatingsTask } from "hushbin";
import type { Estimand } from "../shared/analysis.js";

/** Task of the kind that this page explains: ratings of named items. */
export type NamedItemsTask = Omit<RatingsTask, "items"> & { readonly items: readonly string[] };

export interface TaskResponse {
  readonly task: NamedItemsTask;
  readonly fingerprint: string;
  readonly effective_epsilon: number;
}

export interface Estimate {
  readonly estimate: number;
  readonly standard_error: number;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

export interface EstimatesResponse {
  readonly task: string;
  readonly fingerprint: string;
  readonly reports: number;
  readonly confidence: number;
  readonly privacy: {
    readonly epsilon: number;
    readonly effective_epsilon: number;
    readonly statement: string;
  };
  readonly estimates: readonly ({ readonly item: ItemNameOrBinRange } & Readonly<
    Partial<Record<Estimand, Estimate>>
  >)[];
  /**
   * Estimates for a question that asks for a number. They are absent for other questions, and if
   * there are no reports.
   */
  readonly number?: NumberEstimates;
}

/** Name of an item or option, or range of a bin. */
export type ItemNameOrBinRange = string | { readonly from: number; readonly to: number };

/** Returns the text by which the page names an item. */
export function itemName(item: ItemNameOrBinRange): string {
  return typeof item === "string" ? item : `${item.from} to ${item.to}`;
}

/**
 * Estimates for a question that asks for a number. Fields that the page does not show are left out.
 */
export interface NumberEstimates {
  /** Share of people below each edge, except for the two ends of the range. */
  readonly distribution: readonly (Estimate & { readonly below: number })[];
  readonly quantiles: readonly (Omit<Estimate, "standard_error"> & { readonly quantile: number })[];
}

export interface Receipt {
  /** Number of uploads that were sent. */
  readonly uploads: number;
  /** Number of newly counted reports. */
  readonly accepted_reports: number;
  /** Number of uploads that had been counted before. */
  readonly duplicate_uploads: number;
}

/**
 * Error thrown if the collector did not respond or refused a request. Its message is for people.
 */
export class CollectorError extends Error {
  override readonly name = "CollectorError";
  /** True if a retry of the same request cannot succeed. */
  readonly isPermanent: boolean;

  constructor(message: string, final: boolean) {
    super(message);
    this.isPermanent = final;
  }
}

export class CollectorClient {
  readonly collectorUrl: string;
  readonly taskId: string;

  constructor(endpoint: string, task: string) {
    this.collectorUrl = endpoint.replace(/\/+$/, "");
    this.taskId = task;
  }

  async fetchTask(): Promise<TaskResponse> {
    const answer = await this.#ask<TaskResponse>("", {});
    if (!Array.isArray(answer.task.items)) {
      throw new CollectorError(`This page does not explain tasks such as ${this.taskId}.`, true);
    }
    return answer;
  }

  /** @throws CollectorError unless the collector's task has this fingerprint */
  async checkFingerprint(fingerprint: string): Promise<void> {
    const answer = await this.#ask<{ readonly fingerprint: string }>("", {});
    if (answer.fingerprint !== fingerprint) {
      throw new CollectorError(
        `The collector's task ${this.taskId} differs from the page's.`,
        true,
      );
    }
  }

  /**
   * Requests estimates. `query` has further URL parameters, for example the question of a task with
   * several questions.
   */
  estimates(...query: readonly string[]): Promise<EstimatesResponse> {
    const asked = ["confidence=0.95", ...query].join("&");
    return this.#ask(`/estimates?${asked}`, { headers: { accept: "application/json" } });
  }

  /**
   * Sends an upload without retries. Resolves after the collector has written the upload to disk.
   */
  post(upload: Uint8Array): Promise<Receipt> {
    return this.#ask("/reports", { method: "POST", body: new Uint8Array(upload) });
  }

  async #ask<T>(path: string, init: RequestInit): Promise<T> {
    let response: Response;
    try {
      response = await fetch(`${this.collectorUrl}/tasks/${this.taskId}${path}`, {
        cache: "no-store",
        credentials: "omit",
        ...init,
      });
    } catch {
      throw new CollectorError(`The collector at ${this.collectorUrl} does not answer.`, false);
    }
    const body: unknown = await response.json().catch(() => null);
    if (response.ok && body !== null) return body as T;
    const final = response.status >= 400 && response.status < 500 && response.status !== 429;
    throw new CollectorError(problemText(response.status, body), final);
  }
}

/**
 * Returns the text of a problem+json body, or a text with the HTTP status if there is no such body.
 */
export function problemText(status: number, body: unknown): string {
  const problem = (typeof body === "object" && body !== null ? body : {}) as {
    title?: unknown;
    detail?: unknown;
  };
  const words = [problem.title, problem.detail].filter((word) => typeof word === "string");
  return words.length > 0
    ? `The collector refused: ${words.join(". ")} (${status}).`
    : `The collector answered with status ${status}.`;
}
