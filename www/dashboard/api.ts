// The part of the collector's HTTP interface that this page uses.

/** Estimate of one quantity, with its error bars. */
export interface Estimate {
  readonly estimate: number;
  /** Standard error of the estimate. Undefined for quantiles and sums. */
  readonly standard_error?: number;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

/**
 * Label of an item: a name, an index or level, a bin, or a cell of a cross-tabulation with the
 * labels of its row and column.
 */
export type Label =
  | string
  | number
  | { readonly from: number; readonly to: number }
  | { readonly [part: string]: Label };

/** Quantities (estimands) that can be estimated for an item. */
export const ESTIMANDS = ["mean", "sum", "plus", "minus", "nonmissing", "share"] as const;
export type Estimand = (typeof ESTIMANDS)[number];

export type ItemEstimates = { readonly item: Label; readonly unit?: string } & Readonly<
  Partial<Record<Estimand, Estimate>>
>;

export interface Quantile extends Estimate {
  readonly quantile: number;
}

/** Estimate of the share of people below a number. */
export interface CumulativeShare extends Estimate {
  readonly below: number;
}

/** Estimates of a question of the kind `number`. */
export interface NumberEstimates {
  readonly unit?: string;
  readonly range: readonly [number, number];
  readonly mean?: Estimate;
  readonly distribution?: readonly CumulativeShare[];
  readonly quantiles?: readonly Quantile[];
}

/**
 * Estimates within one row of a cross-tabulation. They are `null` if too few people are in the row.
 */
export interface ConditionalEstimate {
  readonly row: Label;
  readonly column?: Label;
  readonly estimate: number | null;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

export interface Margin {
  readonly name: string;
  readonly unit?: string;
  readonly range?: readonly [number, number];
  /** Shares by option or bin. Undefined if the columns are a number whose mean is estimated. */
  readonly shares?: readonly { readonly item: Label; readonly share: Estimate }[];
}

/** Estimates of a cross-tabulation question (kind `cross`). */
export interface CrossEstimates {
  readonly rows: Margin;
  readonly columns: Margin;
  readonly conditional_means?: readonly ConditionalEstimate[];
  readonly conditional_shares?: readonly ConditionalEstimate[];
}

export interface Estimates {
  /** Number of reports. Undefined for sums, which count people. */
  readonly reports?: number;
  /** Number of people, for sums: all messages divided by the messages of one person. */
  readonly people?: number;
  /** Number of messages, for sums. */
  readonly messages?: number;
  readonly confidence: number;
  readonly bias?: string;
  readonly repeats?: string;
  readonly number?: NumberEstimates;
  readonly cross?: CrossEstimates;
  readonly estimates: readonly ItemEstimates[];
}

/** Texts that many people have, found without a list. */
export interface HeavyHitters {
  readonly reports: number;
  readonly confidence: number;
  readonly repeats?: string;
  readonly texts: readonly {
    readonly text: string;
    readonly goes_on: boolean;
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

export interface Batches {
  /**
   * Conditions that close the open batch: minimum and maximum number of reports, and age in hours.
   */
  readonly closes: { readonly least: number; readonly most: number; readonly hours: number };
  readonly batches: readonly Batch[];
}

export interface Privacy {
  readonly reports: number;
  readonly smallest_batch: number;
  /** Names of the shufflers that the reports passed. */
  readonly shuffled_by: readonly string[];
  readonly local: {
    readonly effective_epsilon: number;
    readonly delta?: number;
    readonly statement: string;
    readonly budget: { readonly statement: string };
  };
  readonly shuffled?: { readonly central_epsilon: number; readonly delta: number };
  readonly shuffled_statement: string;
}

/** Privacy promise of a task that sums through a shuffler. */
export interface SumPrivacy {
  readonly trust: "shuffler";
  readonly central_epsilon: number;
  readonly delta: number;
  /** Minimum number of people in a batch. */
  readonly people: number;
  readonly honest_fraction: number;
  readonly statement: string;
}

/** Response of `/privacy` for a task of sums, which has no local ε. */
export interface SumsPrivacy {
  readonly privacy: SumPrivacy;
  readonly messages: number;
  readonly smallest_batch: number;
  readonly shuffled_by: readonly string[];
  /** True if even the smallest batch has enough messages for the privacy promise. */
  readonly holds: boolean;
  readonly batch_statement: string;
}

/** Largest effect that dishonest people can have on sums. */
export interface SumInfluence {
  readonly people: number;
  readonly statement: string;
  readonly influence: readonly {
    /** Undefined for a vector: the effect is on the length of its sum. */
    readonly item?: Label;
    readonly unit?: string;
    readonly honest: number;
    readonly dishonest: number;
    /** Number of people assumed to be dishonest. `all` is the effect of all of them together. */
    readonly people: number;
    readonly all: number;
    readonly standard_errors: number;
  }[];
}

/**
 * Largest effect that made-up reports can have on estimates, and results of tests for such reports.
 */
export interface Influence {
  readonly made_up: number;
  readonly statement: string;
  readonly influence: readonly {
    readonly question?: string;
    readonly estimate: "mean" | "plus" | "minus" | "nonmissing" | "share" | "below" | "margin";
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

/** One number of a question or task that asks for several numbers. */
interface Attribute {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

type Items = readonly string[] | number | "open";

/** Question of a task. A task of ratings alone has one question, without a name. */
export interface Question {
  readonly name?: string;
  readonly kind?: string;
  readonly items?: Items;
  readonly options?: Items;
  readonly of?: readonly Attribute[];
  readonly edges?: readonly number[];
  /** Kind of ratings: signs, or numbers with fractions. */
  readonly value?: "sign" | "real";
  readonly mechanism?: { readonly name: string };
}

export interface Task extends Question {
  readonly id: string;
  readonly epsilon: number;
  readonly questions?: readonly Question[];
  /** Minimum number of people in a batch, for sums. */
  readonly people?: number;
  /** Numbers of a task of sums. It has either these or a vector. */
  readonly numbers?: readonly Attribute[];
  readonly vector?: { readonly items: Items };
  /** Parameters of the messages of one person, for sums. */
  readonly messages?: { readonly levels: number; readonly drawn: number; readonly noise: number };
}

/** Task whose reports have a local ε. */
export interface ReportsTask {
  readonly task: Task;
  readonly fingerprint: string;
  readonly effective_epsilon: number;
  readonly protects: string;
}

/** Task that sums through a shuffler. It has no local ε. */
export interface SumsTask {
  readonly task: Task;
  readonly fingerprint: string;
  readonly privacy: SumPrivacy;
}

export type TaskAnswer = ReportsTask | SumsTask;

export const isSums = (answer: TaskAnswer): answer is SumsTask => "privacy" in answer;

/** Error for a failed request: the collector responded with a problem document, or not at all. */
export class CollectorError extends Error {
  override readonly name = "Refused";
  /** Last part of the problem's type, for example `nothing-released`. */
  readonly problem: string;
  readonly status: number;
  readonly have: number | undefined;
  readonly need: number | undefined;

  constructor(status: number, body: unknown) {
    const members = (typeof body === "object" && body !== null ? body : {}) as Readonly<
      Record<string, unknown>
    >;
    const { type, title, detail, have, need } = members;
    const words = [title, detail].filter((word) => typeof word === "string");
    super(words.length > 0 ? `${words.join(": ")}.` : messageForStatus(status));
    this.problem = String(type ?? "").replace(/^.*:/, "");
    this.status = status;
    this.have = typeof have === "number" ? have : undefined;
    this.need = typeof need === "number" ? need : undefined;
  }
}

function messageForStatus(status: number): string {
  if (status === 0) return "The collector does not answer.";
  return `The collector answered with status ${status}.`;
}

/** Sends requests to the collector, with a token if there is one. */
export class Collector {
  /** Address of the interface, one level above the page. A proxy may nest both under a path. */
  readonly #base = new URL("../", location.href);
  /** Token of the analyst. `null` if requests are made without a token. */
  token: string | null = null;

  /** Requests a path under `tasks`, such as "survey/batches?…". An empty path lists all tasks. */
  async get<T>(path: string): Promise<T> {
    const response = await this.#get(path === "" ? "tasks" : `tasks/${path}`);
    const body: unknown = await response.json().catch(() => null);
    if (!response.ok || body === null) throw new CollectorError(response.status, body);
    return body as T;
  }

  /** Requests a path under `tasks`. Returns `null` if the collector has no such path. */
  async askIfThere<T>(path: string): Promise<T | null> {
    try {
      return await this.get<T>(path);
    } catch (thrown) {
      if (thrown instanceof CollectorError && thrown.status === 404) return null;
      throw thrown;
    }
  }

  /** Returns the collector's metrics, as text for Prometheus. */
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
