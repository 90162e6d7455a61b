// The planner's thread, so that the page never waits for an answer.

import { loadAnalysis, plan, planSums } from "../shared/analysis.js";
import { isSums } from "./curves.js";
import { type Asked, Desk, type Planning, type Told } from "./desk.js";

/** Message of the thread: about a question, or an error that ends its work. */
export type Said = Told | { readonly kind: "broken"; readonly message: string };

const say = (said: Said) => postMessage(said);

const broken = (error: unknown) =>
  say({ kind: "broken", message: error instanceof Error ? error.message : String(error) });

/** Resolves after the messages that have arrived are handled. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

const answer: Planning = (asking) => (isSums(asking) ? planSums(asking) : plan(asking));

const desk = loadAnalysis(new URL("../shared/analysis.wasm", import.meta.url)).then(
  () => new Desk(answer, say, pause),
);

addEventListener("message", ({ data }: MessageEvent<Asked>) => {
  desk.then((ready) => ready.ask(data)).catch(broken);
});
