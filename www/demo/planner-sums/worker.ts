// The thread that answers, so that the page never waits: of drafts that came in meanwhile the
// newest.

import {
  isRefusal,
  loadAnalysis,
  planSums,
  type Refusal,
  type SumDraft,
  type SumPlan,
} from "../shared/analysis.js";

/** A draft, numbered by who asks. */
export interface Asked {
  readonly id: number;
  readonly draft: SumDraft;
}

/** What the thread says. */
export type Said =
  | { readonly kind: "plan"; readonly id: number; readonly plan: SumPlan }
  | { readonly kind: "refused"; readonly id: number; readonly refusal: Refusal }
  | { readonly kind: "broken"; readonly message: string };

const say = (said: Said) => postMessage(said);

function broken(error: unknown): void {
  say({ kind: "broken", message: error instanceof Error ? error.message : String(error) });
}

const loaded = loadAnalysis(new URL("../shared/analysis.wasm", import.meta.url));
let newest: Asked | null = null;

function answer({ id, draft }: Asked): void {
  try {
    say({ kind: "plan", id, plan: planSums(draft) });
  } catch (thrown) {
    if (isRefusal(thrown)) say({ kind: "refused", id, refusal: thrown });
    else broken(thrown);
  }
}

addEventListener("message", ({ data }: MessageEvent<Asked>) => {
  newest = data;
  loaded
    // What has come in since is handled first.
    .then(() => new Promise((rested) => setTimeout(rested)))
    .then(() => {
      const asked = newest;
      newest = null;
      if (asked) answer(asked);
    })
    .catch(broken);
});
