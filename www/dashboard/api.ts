// The collector's interface, as far as this page asks it.

/** An estimate with its error bars. */
export interface Estimate {
  readonly estimate: number;
  /** Missing of quantiles and sums. */
  readonly standard_error?: number;
  readonly interval: readonly [number, number];
  readonly simultaneous_interval: readonly [number, number];
}

/** How an item is called: a name, an index or level, a bin, or a cell by its parts. */
export type Label =
  | string
  | number
  | { readonly from: number; readonly to: number }
  | { readonly [part: string]: Label };

/** What is estimated of an item. */
export const ESTIMANDS = ["mean", "sum", "plus", "minus", "nonmissing", "share"] as const;
export type Estimand = (typeof ESTIMANDS)[number];

export type ItemEstimates = { readonly item: Label; readonly unit?: string } & Readonly<
  Partial<Record<Estimand, Estimate>>
>;

export interface Quantile extends Estimate {
  readonly quantile: number;
}

/** Share of people with less than a number. */
export interface Below extends Estimate {
  readonly below: number;
}

/** Of a question for a number. */
export interface NumberEstimates {
  readonly unit?: string;
  readonly range: readonly [number, number];
  readonly mean?: Estimate;
  readonly distribution?: readonly Below[];
  readonly quantiles?: readonly Quantile[];
}

/** A share or mean within a row of a cross; no estimate where few people leave it unknown. */
export interface Within {
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
  /** Shares by option or bin; missing of the levels of a number for its mean. */
  readonly shares?: readonly { readonly item: Label; readonly share: Estimate }[];
}

/** Of a cross. */
export interface CrossEstimates {
  readonly rows: Margin;
  readonly columns: Margin;
  readonly conditional_means?: readonly Within[];
  readonly conditional_shares?: readonly Within[];
}

export interface Estimates {
  /** Missing of sums, which are of people. */
  readonly reports?: number;
  /** Of sums: messages over those of one person. */
  readonly people?: number;
  /** Of sums. */
  readonly messages?: number;
  readonly confidence: number;
  readonly bias?: string;
  readonly repeats?: string;
  readonly number?: NumberEstimates;
  readonly cross?: CrossEstimates;
  readonly estimates: readonly ItemEstimates[];
}

/** Texts that many people have. */
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
  /** Seconds since 1970. */
  readonly opened: number;
  readonly closed?: number;
}

export interface Batches {
  /** When the open one is closed. */
  readonly closes: { readonly least: number; readonly most: number; readonly hours: number };
  readonly batches: readonly Batch[];
}

export interface Privacy {
  readonly reports: number;
  readonly smallest_batch: number;
  /** Who shuffled the reports before the collector had them. */
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

/** What is promised of sums, by whom. */
export interface SumPrivacy {
  readonly trust: "shuffler";
  readonly central_epsilon: number;
  readonly delta: number;
  /** Of a batch, at least. */
  readonly people: number;
  readonly honest_fraction: number;
  readonly statement: string;
}

/** Of a task of sums: nothing local. */
export interface SumsPrivacy {
  readonly privacy: SumPrivacy;
  readonly messages: number;
  readonly smallest_batch: number;
  readonly shuffled_by: readonly string[];
  /** Whether the smallest batch has as many messages as the promise takes. */
  readonly holds: boolean;
  readonly batch_statement: string;
}

/** How far dishonest people move sums. */
export interface SumInfluence {
  readonly people: number;
  readonly statement: string;
  readonly influence: readonly {
    /** Missing of a vector, whose sum's length is meant. */
    readonly item?: Label;
    readonly unit?: string;
    readonly honest: number;
    readonly dishonest: number;
    /** Those who are taken to be dishonest, and by how much all of them move it. */
    readonly people: number;
    readonly all: number;
    readonly standard_errors: number;
  }[];
}

/** What made-up reports can do, and whether reports look made up. */
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

/** One of several numbers. */
interface Attribute {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

type Items = readonly string[] | number | "open";

/** A question, as the task says it; of a task for ratings alone there is one without a name. */
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
  /** People of a batch, of sums at least. */
  readonly people?: number;
  /** Of a task of sums: these, or a vector. */
  readonly numbers?: readonly Attribute[];
  readonly vector?: { readonly items: Items };
  /** What one person sends, of sums. */
  readonly messages?: { readonly levels: number; readonly drawn: number; readonly noise: number };
}

/** Of a task whose reports are private by themselves. */
export interface ReportsTask {
  readonly task: Task;
  readonly fingerprint: string;
  readonly effective_epsilon: number;
  readonly protects: string;
}

/** Of a task whose sums a shuffler hides: there is no local ε. */
export interface SumsTask {
  readonly task: Task;
  readonly fingerprint: string;
  readonly privacy: SumPrivacy;
}

export type TaskAnswer = ReportsTask | SumsTask;

export const isSums = (answer: TaskAnswer): answer is SumsTask => "privacy" in answer;

/** Why there is no answer: the collector's problem, or that it does not answer. */
export class Refused extends Error {
  override readonly name = "Refused";
  /** The end of the problem's type. */
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
    super(words.length > 0 ? `${words.join(": ")}.` : wordless(status));
    this.problem = String(type ?? "").replace(/^.*:/, "");
    this.status = status;
    this.have = typeof have === "number" ? have : undefined;
    this.need = typeof need === "number" ? need : undefined;
  }
}

function wordless(status: number): string {
  if (status === 0) return "The collector does not answer.";
  return `The collector answered with status ${status}.`;
}

/** Asks, with a token if there is one. */
export class Collector {
  /** Where the interface is: above the page, under whatever path both are nested. */
  readonly #base = new URL("../", location.href);
  /** Of whoever looks at the page. */
  token: string | null = null;

  /** A path under `tasks`, such as "survey/batches?…"; the list of all where it is empty. */
  async ask<T>(path: string): Promise<T> {
    const response = await this.#get(path === "" ? "tasks" : `tasks/${path}`);
    const body: unknown = await response.json().catch(() => null);
    if (!response.ok || body === null) throw new Refused(response.status, body);
    return body as T;
  }

  /** The same, and nothing where there is no such thing. */
  async askIfThere<T>(path: string): Promise<T | null> {
    try {
      return await this.ask<T>(path);
    } catch (thrown) {
      if (thrown instanceof Refused && thrown.status === 404) return null;
      throw thrown;
    }
  }

  /** What is counted of the collector. */
  async metrics(): Promise<string> {
    const response = await this.#get("metrics");
    if (!response.ok) throw new Refused(response.status, null);
    return response.text();
  }

  async #get(path: string): Promise<Response> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.token !== null) headers.authorization = `Bearer ${this.token}`;
    try {
      return await fetch(new URL(path, this.#base), { headers, credentials: "omit" });
    } catch {
      throw new Refused(0, null);
    }
  }
}
