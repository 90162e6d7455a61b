// Types and a client for the part of the collector's HTTP interface that this page uses.

import { visibleText } from "../client/displayed-name.js";
import type { SumTask } from "../client/sums/task.js";

/** Estimate of one quantity, with its interval and its simultaneous interval. */
export interface Estimate {
  readonly estimate: number;
  /** Standard error of the estimate. Undefined for quantiles and sums. */
  readonly standard_error?: number;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

/**
 * Label of an item: a name, an index or level, the range of a bin, or a cell of a cross-tabulation.
 * The label of a cell contains the labels of its row and its column.
 */
export type ItemLabel =
  | string
  | number
  | { readonly from: number; readonly to: number }
  | { readonly [part: string]: ItemLabel };

/** Quantities (estimands) of an item that can be estimated. */
export const ESTIMANDS = ["mean", "share", "sum", "plus", "minus", "nonmissing"] as const;
export type Estimand = (typeof ESTIMANDS)[number];

export type ItemEstimates = { readonly item: ItemLabel; readonly unit?: string } & Readonly<
  Partial<Record<Estimand, Estimate>>
>;

export interface QuantileEstimate extends Estimate {
  readonly quantile: number;
}

/** Estimate of the share of people whose number is below `below`. */
export interface CumulativeShare extends Estimate {
  readonly below: number;
}

/** Estimates for a question of the kind `number`. */
export interface NumberEstimates {
  readonly unit?: string;
  readonly range: readonly [number, number];
  readonly mean?: Estimate;
  readonly distribution?: readonly CumulativeShare[];
  readonly quantiles?: readonly QuantileEstimate[];
}

/**
 * Estimate for the people in one row of a cross-tabulation. `estimate` is `null` if there are too
 * few people in the row.
 */
export interface ConditionalEstimate {
  readonly row: ItemLabel;
  readonly column?: ItemLabel;
  readonly estimate: number | null;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

export interface CrossMargin {
  readonly name: string;
  readonly unit?: string;
  readonly range?: readonly [number, number];
  /**
   * Share of people with each option, or in each bin. Undefined if the columns are a number whose
   * mean is estimated.
   */
  readonly shares?: readonly { readonly item: ItemLabel; readonly share: Estimate }[];
}

/** Estimates for a cross-tabulation question (kind `cross`). */
export interface CrossEstimates {
  readonly rows: CrossMargin;
  readonly columns: CrossMargin;
  readonly conditional_means?: readonly ConditionalEstimate[];
  readonly conditional_shares?: readonly ConditionalEstimate[];
}

export interface EstimatesResponse {
  /** Number of reports. Undefined for a sum task, which counts people. */
  readonly reports?: number;
  /** Number of people in a sum task. */
  readonly people?: number;
  /** Number of messages in a sum task. */
  readonly messages?: number;
  /** Number of messages in a sum task that are missing, at least. Undefined if there are none. */
  readonly missing_messages?: number;
  readonly confidence: number;
  readonly bias_statement?: string;
  readonly memo_warning?: string;
  readonly number?: NumberEstimates;
  readonly cross?: CrossEstimates;
  readonly estimates: readonly ItemEstimates[];
}

/** Texts that many people have. They are found in the reports, without a list of possible texts. */
export interface HeavyHitters {
  readonly reports: number;
  readonly confidence: number;
  readonly texts: readonly {
    readonly text: string;
    readonly is_prefix: boolean;
    readonly estimate: number;
    readonly simultaneous_interval: readonly [number, number];
  }[];
}

export interface Batch {
  readonly number: number;
  readonly state: "open" | "closed" | "released";
  readonly reports: number;
  /** Time at which the batch was opened, in seconds since 1970. */
  readonly opened: number;
  readonly closed?: number;
}

export interface BatchesResponse {
  /**
   * Conditions that close the open batch. `least` and `most` are numbers of reports, `hours` is its
   * age.
   */
  readonly batch_settings: {
    readonly least: number;
    readonly most: number;
    readonly hours: number;
  };
  readonly batches: readonly Batch[];
}

export interface ReportsPrivacy {
  readonly reports: number;
  readonly smallest_batch: number;
  /** Names of the shufflers through which the reports came. */
  readonly shuffled_by: readonly string[];
  readonly local: {
    readonly effective_epsilon: number;
    readonly delta?: number;
    readonly statement: string;
    readonly budget: { readonly statement: string };
  };
  readonly shuffled?: { readonly central_epsilon: number; readonly delta: number };
  readonly shuffled_statement: string;
  /** Statement of what made-up reports can do in spite of the collector's limits. */
  readonly flood_statement: string;
}

/** Privacy promise of a sum task, whose messages go through a shuffler. */
export interface SumPrivacyPromise {
  readonly trust: "shuffler";
  readonly central_epsilon: number;
  readonly delta: number;
  /** Minimum number of people in a batch. */
  readonly people: number;
  readonly honest_fraction: number;
  readonly statement: string;
}

/** Response of `/privacy` for a sum task, which has no local ε. */
export interface SumsPrivacyResponse {
  readonly privacy: SumPrivacyPromise;
  readonly people: number;
  readonly smallest_batch: number;
  readonly shuffled_by: readonly string[];
  /** True if even the smallest released batch has enough people for the privacy promise. */
  readonly smallest_batch_suffices: boolean;
  readonly batch_statement: string;
  readonly flood_statement: string;
}

/** Largest effect that dishonest people can have on the estimated sums. */
export interface SumInfluence {
  readonly people: number;
  readonly statement: string;
  readonly influence: readonly {
    /**
     * Item whose sum is affected. Undefined for a vector: effects are then Euclidean lengths of the
     * summed vector's change.
     */
    readonly item?: ItemLabel;
    readonly unit?: string;
    readonly honest_change: number;
    readonly dishonest_change: number;
    /** Number of people who are assumed to be dishonest. `total_change` is their effect together. */
    readonly dishonest_people: number;
    readonly total_change: number;
    readonly total_standard_errors: number;
  }[];
}

/**
 * Largest effect that made-up reports can have on estimates, and results of tests that look for
 * made-up reports.
 */
export interface MadeUpReportsInfluence {
  readonly made_up_fraction: number;
  readonly statement: string;
  readonly influence: readonly {
    readonly question?: string;
    readonly estimand: "mean" | "plus" | "minus" | "nonmissing" | "share" | "below" | "margin";
    readonly up: number;
    readonly down: number;
    readonly unit?: string;
  }[];
  readonly crowd: readonly {
    readonly question?: string;
    readonly test: string;
    readonly statement: string;
    readonly p: number;
    readonly flagged: boolean;
  }[];
}

/** One of several numbers that a question or a sum task asks for. */
interface NumberInTask {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

type ItemNamesOrCount = readonly string[] | number | "open";

/** Question of a task. A task that only asks for ratings has one question, which has no name. */
export interface Question {
  readonly name?: string;
  readonly kind?: string;
  readonly items?: ItemNamesOrCount;
  readonly options?: ItemNamesOrCount;
  readonly of?: readonly NumberInTask[];
  readonly edges?: readonly number[];
  /** Distance between possible numbers. */
  readonly step?: number;
  /** True if a person may have no number. */
  readonly optional?: boolean;
  /** True if the messages of a sum task count the people behind each answer. */
  readonly counted?: boolean;
  /** Values of ratings: only their signs, or any numbers from −1 to 1. */
  readonly value?: "sign" | "real";
  readonly mechanism?: { readonly name: string };
}

export interface Task extends Question {
  readonly id: string;
  readonly epsilon: number;
  readonly questions?: readonly Question[];
  /** Minimum number of people in a batch of a sum task. */
  readonly people?: number;
  /** Numbers that a sum task asks for. A sum task has either numbers or a vector. */
  readonly numbers?: readonly NumberInTask[];
  readonly vector?: { readonly items: ItemNamesOrCount };
  /** Parameters of the messages of one person in a sum task. */
  readonly messages?: SumTask["messages"];
}

/** Task that collects reports with a local ε. */
export interface ReportsTaskResponse {
  readonly task: Task;
  readonly fingerprint: string;
  readonly effective_epsilon: number;
  readonly protects: string;
}

/** Sum task, whose messages go through a shuffler. It has no local ε. */
export interface SumsTaskResponse {
  readonly task: Task;
  readonly fingerprint: string;
  readonly privacy: SumPrivacyPromise;
}

export type TaskResponse = ReportsTaskResponse | SumsTaskResponse;

export const isSumTaskResponse = (answer: TaskResponse): answer is SumsTaskResponse =>
  "privacy" in answer;

/**
 * Error of a failed request. The collector responded with a problem document, or did not respond.
 */
export class CollectorError extends Error {
  override readonly name = "CollectorError";
  /** Last part of the problem document's type, for example `nothing-released`. */
  readonly problem: string;
  readonly status: number;

  constructor(status: number, body: unknown) {
    const members = (typeof body === "object" && body !== null ? body : {}) as Readonly<
      Record<string, unknown>
    >;
    const { type, title, detail } = members;
    const words = [title, detail].filter((word) => typeof word === "string");
    super(words.length > 0 ? `${visibleText(words.join(": "))}.` : messageForStatus(status));
    this.problem = String(type ?? "").replace(/^.*:/, "");
    this.status = status;
  }
}

function messageForStatus(status: number): string {
  if (status === 0) return "The collector does not answer.";
  return `The collector answered with status ${status}.`;
}

/** Client that sends requests to the collector, with a token if there is one. */
export class CollectorClient {
  /**
   * Base address of the HTTP interface, one level above the page. A proxy may put both below a
   * path.
   */
  readonly #base = new URL("../", location.href);
  /** Token of the analyst. `null` if requests need no token. */
  token: string | null = null;

  /**
   * Requests a path below `tasks`, such as "survey/batches?…". An empty path requests the list of
   * all tasks.
   */
  async getFromTasks<T>(path: string): Promise<T> {
    const response = await this.#get(path === "" ? "tasks" : `tasks/${path}`);
    const body: unknown = await response.json().catch(() => null);
    if (!response.ok || body === null) throw new CollectorError(response.status, body);
    return body as T;
  }

  /** Requests a path below `tasks`. Returns `null` if the collector does not know the path. */
  async getFromTasksOrNull<T>(path: string): Promise<T | null> {
    try {
      return await this.getFromTasks<T>(path);
    } catch (thrown) {
      if (thrown instanceof CollectorError && thrown.status === 404) return null;
      throw thrown;
    }
  }

  /** Requests the collector's metrics, in the text format of Prometheus. */
  async metrics(): Promise<string> {
    const response = await this.#get("metrics");
    if (!response.ok) throw new CollectorError(response.status, null);
    return response.text();
  }

  async #get(path: string): Promise<Response> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.token !== null) headers.authorization = `Bearer ${this.token}`;
    try {
      return await fetch(new URL(path, this.#base), { headers, credentials: "omit" });
    } catch {
      throw new CollectorError(0, null);
    }
  }
}
