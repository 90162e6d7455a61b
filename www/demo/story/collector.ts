// The collector's HTTP interface, as far as the page speaks it itself.

import type { RatingsTask } from "hushbin";
import type { Estimand } from "../shared/analysis.js";

/** The kind of task that this page is about: for ratings of items that have names. */
export type NamedTask = Omit<RatingsTask, "items"> & { readonly items: readonly string[] };

export interface TaskAnswer {
  readonly task: NamedTask;
  readonly fingerprint: string;
  readonly effective_epsilon: number;
}

export interface Estimate {
  readonly estimate: number;
  readonly standard_error: number;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

export interface EstimatesAnswer {
  readonly task: string;
  readonly fingerprint: string;
  readonly reports: number;
  readonly confidence: number;
  readonly privacy: {
    readonly epsilon: number;
    readonly effective_epsilon: number;
    readonly statement: string;
  };
  readonly estimates: readonly ({ readonly item: string } & Readonly<
    Partial<Record<Estimand, Estimate>>
  >)[];
}

export interface Receipt {
  readonly accepted: number;
  readonly duplicate: boolean;
}

/** The collector did not answer, or refused. The message is for people. */
export class CollectorError extends Error {
  override readonly name = "CollectorError";
  /** Whether sending the same again is pointless. */
  readonly final: boolean;

  constructor(message: string, final: boolean) {
    super(message);
    this.final = final;
  }
}

export class Collector {
  readonly endpoint: string;
  readonly task: string;

  constructor(endpoint: string, task: string) {
    this.endpoint = endpoint.replace(/\/+$/, "");
    this.task = task;
  }

  async taskAnswer(): Promise<TaskAnswer> {
    const answer = await this.#ask<TaskAnswer>("", {});
    if (!Array.isArray(answer.task.items)) {
      throw new CollectorError(`The task ${this.task} is not one that this page explains.`, true);
    }
    return answer;
  }

  estimates(): Promise<EstimatesAnswer> {
    return this.#ask("/estimates?confidence=0.95", { headers: { accept: "application/json" } });
  }

  /** Sends an upload once. Resolves only after the collector has it on disk. */
  post(upload: Uint8Array): Promise<Receipt> {
    return this.#ask("/reports", { method: "POST", body: new Uint8Array(upload) });
  }

  async #ask<T>(path: string, init: RequestInit): Promise<T> {
    let response: Response;
    try {
      response = await fetch(`${this.endpoint}/tasks/${this.task}${path}`, {
        cache: "no-store",
        credentials: "omit",
        ...init,
      });
    } catch {
      throw new CollectorError(`The collector at ${this.endpoint} does not answer.`, false);
    }
    const body: unknown = await response.json().catch(() => null);
    if (response.ok && body !== null) return body as T;
    const final = response.status >= 400 && response.status < 500 && response.status !== 429;
    throw new CollectorError(problemText(response.status, body), final);
  }
}

/** The text of a problem+json body, or what can be said without one. */
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
