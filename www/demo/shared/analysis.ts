// hushbin's analysis, compiled to WebAssembly: everything here that is computed.

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

/** Loads the module from beside this page; compiles it while it comes in, where the browser can. */
export async function loadAnalysis(url: URL): Promise<void> {
  await init({ module_or_path: url });
}

/** Whether something thrown says why there is no answer; anything else is a fault. */
export function isRefusal(thrown: unknown): thrown is Refusal {
  return (
    typeof thrown === "object" && thrown !== null && !(thrown instanceof Error) && "code" in thrown
  );
}
