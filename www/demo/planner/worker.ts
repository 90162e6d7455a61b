// The worker thread of the planner, so that the page never waits for an answer.

import { loadAnalysis, plan, planSums } from "../shared/analysis.js";
import { isSumInput } from "./curves.js";
import {
  LatestRequestPlanner,
  type PlanFunction,
  type PlanProgressMessage,
  type PlanRequest,
} from "./plan-queue.js";

/** Message from the worker thread: about a question, or an error that ends the thread's work. */
export type WorkerMessage =
  | PlanProgressMessage
  | { readonly kind: "broken"; readonly message: string };

const post = (message: WorkerMessage) => postMessage(message);

const postFailure = (error: unknown) =>
  post({ kind: "broken", message: error instanceof Error ? error.message : String(error) });

/** Resolves after the thread has handled the messages that have already arrived. */
function pauseForMessages(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const planForInput: PlanFunction = (input) => (isSumInput(input) ? planSums(input) : plan(input));

const queueAfterLoading = loadAnalysis(new URL("../shared/analysis.wasm", import.meta.url)).then(
  () => new LatestRequestPlanner(planForInput, post, pauseForMessages),
);

addEventListener("message", ({ data }: MessageEvent<PlanRequest>) => {
  queueAfterLoading.then((ready) => ready.replaceRequest(data)).catch(postFailure);
});
