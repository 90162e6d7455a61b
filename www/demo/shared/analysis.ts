// The analysis module, compiled to WebAssembly. It makes all calculations of the pages.

import init, { type Refusal } from "./wasm/analysis.js";

export type * from "./wasm/analysis.js";
export {
  Both,
  Explainer,
  NamedQuestionExplainer,
  plan,
  planSums,
  posterior,
} from "./wasm/analysis.js";

/** Loads the analysis module from `url`. Browsers that can compile it during the download do so. */
export async function loadAnalysis(url: URL): Promise<void> {
  await init({ module_or_path: url });
}

/**
 * Returns whether a thrown value is a {@link Refusal}, which explains why there is no answer. Any
 * other value is a bug.
 */
export function isRefusal(thrown: unknown): thrown is Refusal {
  return (
    typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown
  );
}
