// What the planner's module takes and gives: hushbin's `plan`, in JSON.

export type Objective =
  | "mean"
  | "frequency"
  | { readonly mean: number; readonly frequency: number };

/** Of people, privacy and accuracy two are given; the third is answered. */
export interface Question {
  readonly items: number | "open";
  readonly sparsity: number;
  readonly value: "sign" | "real";
  readonly objective: Objective;
  readonly level: "user" | "event";
  readonly people?: number;
  readonly people_per_day?: number;
  readonly epsilon?: number;
  readonly central_epsilon?: number;
  readonly delta: number;
  readonly honest_fraction: number;
  readonly standard_error?: number;
  readonly smallest?: number;
}

/** A mechanism by its name, with parameters of its own. */
export interface Mechanism {
  readonly name: string;
  readonly [parameter: string]: string | number | undefined;
}

/** What a mechanism does for the people planned for. */
export interface Offer {
  readonly mechanism: Mechanism;
  readonly sparsity: number;
  readonly epsilon: number;
  readonly effective_epsilon: number;
  readonly protects: string;
  /** Of the noise; null, as all that follows from it, where nothing is estimated. */
  readonly standard_error: number | null;
  readonly bias: number | null;
  /** Of noise and bias. */
  readonly error: number | null;
  readonly interval: number | null;
  readonly simultaneous_interval: number | null;
  /** Null where not even an item that everybody has is seen. */
  readonly smallest: number | null;
  readonly people: number | null;
  readonly central: {
    readonly central_epsilon: number;
    readonly lower_bound_epsilon: number;
    readonly delta: number;
  } | null;
  readonly central_reason?: string;
}

export type VerdictKind = "useful" | "frequent-only" | "noise" | "missed";

export interface Answer {
  readonly solved_for: "error" | "people" | "epsilon";
  readonly people: number;
  readonly days: number | null;
  readonly task: { readonly id: string };
  readonly picked: Offer;
  readonly others: readonly Offer[];
  readonly wanted: number | null;
  readonly verdict: { readonly kind: VerdictKind; readonly text: string };
  readonly assumes: string;
}

/** Why there is no answer. */
export interface Refusal {
  readonly code: string;
  /** The field of the question that it is about, if it is about one. */
  readonly field?: string;
  readonly message: string;
}

/** A question that has no answer. */
export class PlanError extends Error {
  readonly code: string;
  readonly field: string | undefined;

  constructor({ code, field, message }: Refusal) {
    super(message);
    this.name = "PlanError";
    this.code = code;
    this.field = field;
  }

  /** As it travels between threads, which keep of errors only the message. */
  get refusal(): Refusal {
    const { code, field, message } = this;
    return field === undefined ? { code, message } : { code, field, message };
  }
}

/** Answers a question. Throws {@link PlanError}. */
export type Plan = (question: Question) => Answer;
