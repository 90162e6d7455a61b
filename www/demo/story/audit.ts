// The view of the audit: its button, its progress, and a picture of the measured ε.

import { createRandomizer } from "hushbin";
import type { HitCount, MeasuredBound } from "../shared/analysis.js";
import { byId, el, setAttributes, svg } from "../shared/dom.js";
import {
  formatCount,
  formatEpsilonLowerBound,
  formatLossSixDecimals,
  formatPercent,
  formatThreeDigits,
} from "../shared/format.js";
import type { MechanismChannel } from "./channel.js";
import { runAudit } from "./measure.js";

/** Number of reports of each input. Making them takes a few seconds on a phone. */
const REPORTS_PER_INPUT = 100_000;
const CONFIDENCE = 0.999;
/** Factor by which the ε of a sabotaged randomiser exceeds the promised ε. */
const SABOTAGE_EPSILON_FACTOR = 2;
/** Maximum ε in the picture, as a multiple of the promised ε. */
const GAUGE_MAX_EPSILON_FACTOR = 2.25;

export class AuditView {
  readonly #onTrouble: (error: unknown) => void;
  readonly #runButton = byId<HTMLButtonElement>("audit-run");
  readonly #cancelButton = byId<HTMLButtonElement>("audit-cancel");
  readonly #sabotage = byId<HTMLInputElement>("audit-sabotage");
  readonly #bar = byId<HTMLProgressElement>("audit-progress");
  #channel: MechanismChannel;
  #runAbortController: AbortController | null = null;

  constructor(channel: MechanismChannel, onTrouble: (error: unknown) => void) {
    this.#channel = channel;
    this.#onTrouble = onTrouble;
    this.#runButton.addEventListener("click", () => void this.#measure());
    this.#cancelButton.addEventListener("click", () => this.#runAbortController?.abort());
    this.#sabotage.addEventListener("change", () => this.#reset());
    this.show(channel);
  }

  /** Shows another mechanism, and clears the measurement of the previous one. */
  show(channel: MechanismChannel): void {
    this.#channel = channel;
    byId("audit-inputs").textContent = auditInputsInWords(channel);
    byId("audit-score").textContent = channel.texts.score;
    this.#reset();
  }

  #reset(): void {
    this.#runAbortController?.abort();
    this.#draw(null);
    byId("audit-text").textContent = "";
    byId("audit-detail").textContent =
      `Nothing measured yet. The audit makes ${formatCount(2 * REPORTS_PER_INPUT)} reports in this browser and sends none of them.`;
  }

  async #measure(): Promise<void> {
    const channel = this.#channel;
    const { task } = channel.taskResponse;
    const sabotaged = this.#sabotage.checked;
    const running = new AbortController();
    this.#reset();
    this.#runAbortController = running;
    this.#show(true);
    byId("audit-detail").textContent = "Measuring …";
    try {
      // Sabotage keeps the mechanism and its parameters, and only raises ε.
      const randomizer = await createRandomizer({
        task: sabotaged ? { ...task, epsilon: SABOTAGE_EPSILON_FACTOR * task.epsilon } : task,
      });
      try {
        const measured = await runAudit({
          randomizer,
          explainer: channel.explainer,
          trials: REPORTS_PER_INPUT,
          confidence: CONFIDENCE,
          signal: running.signal,
          onProgress: (share) => {
            this.#bar.value = share;
          },
        });
        if (measured) this.#showResult(measured);
        else if (this.#runAbortController === running) this.#reset();
      } finally {
        randomizer.free();
      }
    } catch (error) {
      this.#onTrouble(error);
    } finally {
      if (this.#runAbortController === running) {
        this.#runAbortController = null;
        this.#show(false);
      }
    }
  }

  #show(running: boolean): void {
    // A hidden button loses the focus, so move it to the visible one.
    const focused = document.activeElement;
    byId("auditing").hidden = !running;
    this.#runButton.hidden = running;
    if (running && focused === this.#runButton) this.#cancelButton.focus();
    if (!running && focused === this.#cancelButton) this.#runButton.focus();
    this.#bar.value = 0;
  }

  #showResult(measured: MeasuredBound): void {
    const { epsilon } = this.#channel.taskResponse.task;
    const { empirical_lower_bound: least, likelier, other, confidence } = measured;
    const caught = least > this.#channel.taskResponse.effective_epsilon;
    this.#draw(measured);
    const sure = formatPercent(confidence, 1);
    byId("audit-text").textContent = caught
      ? `Caught: these reports need an ε of at least ${formatEpsilonLowerBound(least)}, but ${formatThreeDigits(epsilon)} was promised.`
      : `Measured: an ε of at least ${formatEpsilonLowerBound(least)}. Promised: at most ${formatThreeDigits(epsilon)}. Nothing contradicts the promise.`;
    byId("audit-detail").textContent =
      `One kind of report occurred ${hitsInWords(likelier)} for one input, and ${hitsInWords(other)} for the other. ` +
      `Such a difference needs an ε of at least ${formatEpsilonLowerBound(least)}, with ${sure} confidence.` +
      (caught
        ? " This randomiser breaks its promise."
        : " This is no proof of privacy. Only mathematics can give a proof. But a clear violation for these inputs would show here. The command hushbin audit also tests seeds, ids and other inputs.");
  }

  #draw(measured: MeasuredBound | null): void {
    const { taskResponse: answer, mechanismInfo: kind } = this.#channel;
    const { epsilon } = answer.task;
    const least = measured?.empirical_lower_bound ?? null;
    const caught = least !== null && least > answer.effective_epsilon;
    const at = (value: number) =>
      `${(Math.min(value / (GAUGE_MAX_EPSILON_FACTOR * epsilon), 1) * 100).toFixed(2)}%`;
    setAttributes(byId("gauge"), { "data-caught": caught });
    byId("gauge-title").textContent = `${kind.name}: measured ε and promised ε`;
    byId("gauge-desc").textContent =
      `Promised: ε of at most ${formatThreeDigits(epsilon)}. ` +
      (least === null
        ? "Nothing measured yet."
        : `Measured: at least ${formatEpsilonLowerBound(least)}, ${caught ? "above" : "within"} the promise.`);
    const ticks = [0, 0.5, 1, 1.5, 2].map((share) => share * epsilon);
    byId("gauge-marks").replaceChildren(
      svg("rect", { class: "allowed", x: 0, y: 30, width: at(epsilon), height: 44 }),
      svg("rect", {
        class: "forbidden",
        x: at(epsilon),
        y: 30,
        width: `${100 - Number.parseFloat(at(epsilon))}%`,
        height: 44,
      }),
      svg("rect", { class: "measured", x: 0, y: 43, width: at(least ?? 0), height: 18 }),
      svg("line", { class: "promise", x1: at(epsilon), x2: at(epsilon), y1: 22, y2: 80 }),
      svg(
        "text",
        { class: "promise-name", x: at(epsilon), y: 15, "text-anchor": "middle" },
        `promised: at most ${formatThreeDigits(epsilon)}`,
      ),
      ...ticks.map((tick) =>
        svg(
          "text",
          { x: at(tick), y: 96, "text-anchor": tick === 0 ? "start" : "middle" },
          tick === 0 ? "ε = 0" : formatThreeDigits(tick),
        ),
      ),
    );
    byId("audit-figures").replaceChildren(
      ...[
        ["requested ε", formatThreeDigits(epsilon)],
        ["effective ε", formatLossSixDecimals(answer.effective_epsilon)],
        ["measured lower bound of ε", least === null ? "–" : formatEpsilonLowerBound(least)],
        ["reports per input", formatCount(REPORTS_PER_INPUT)],
        ["confidence", formatPercent(CONFIDENCE, 1)],
      ].map(([name = "", value = ""]) =>
        el("div", {}, el("dt", {}, name), el("dd", { class: "figure-value" }, value)),
      ),
    );
  }
}

function auditInputsInWords({
  taskResponse: answer,
  explainer,
  epsilonScope: covers,
}: MechanismChannel): string {
  const [first] = explainer.extremeInputs();
  const answered = first.length;
  const questions = answered === 1 ? "the first question" : `the first ${answered} questions`;
  const scope =
    covers === "entry"
      ? " They differ in a single answer, because this mechanism promises to hide only single answers."
      : "";
  return `“Yes” to ${questions} of ${answer.task.items.length}, and “no” to the same questions.${scope}`;
}

function hitsInWords({ hits, trials }: HitCount): string {
  return `${formatCount(hits)} times in ${formatCount(trials)}`;
}
