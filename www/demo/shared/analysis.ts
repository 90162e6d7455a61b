// hushbin's analysis, compiled to WebAssembly. It makes all calculations of the pages.

import init, { type Refusal } from "./wasm/analysis.js";

export type * from "./wasm/analysis.js";
export {
  AnswerExplainer,
  Both,
  Explainer,
  plan,
  planSums,
  posterior,
} from "./wasm/analysis.js";

/** Loads the module from `url`. Browsers compile it during the download if they can. */
export async function loadAnalysis(url: URL): Promise<void> {
  await init({ module_or_path: url });
}

/** Returns whether a thrown value explains why there is no answer. Any other value is a fault. */
export function isRefusal(thrown: unknown): thrown is Refusal {
  return (
    typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown
  );
}
