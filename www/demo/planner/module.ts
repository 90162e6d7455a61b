// The planner's WebAssembly module, loaded when it is first needed.

import init, { plan as answer } from "./wasm/planner.js";
import { type Answer, type Plan, PlanError, type Refusal } from "./wire.js";

/** Loads the module; compiles it while it comes in, where the browser can. */
export async function loadPlanner(url: URL): Promise<Plan> {
  await init({ module_or_path: url });
  return (question) => {
    let text: string;
    try {
      text = answer(JSON.stringify(question));
    } catch (thrown) {
      // Refusals are thrown as JSON; anything else is a fault of the module.
      if (typeof thrown === "string") throw new PlanError(JSON.parse(thrown) as Refusal);
      throw thrown;
    }
    return JSON.parse(text) as Answer;
  };
}
