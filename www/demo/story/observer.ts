// The chapter on an observer who sees the visitor's report, and on the observer's belief before and
// after.

import { maximumCertaintyPercent } from "../../client/certainty.js";
import { type Belief, posterior } from "../shared/analysis.js";
import { byId, el, expEpsilonElement, setAttributes, svg } from "../shared/dom.js";
import { formatPercent, formatThreeDigits } from "../shared/format.js";
import type { MechanismChannel } from "./channel.js";
import type { Answers } from "./mechanism/mechanism.js";
import { answerWord, type Question } from "./questions.js";

const SIZE = 260;
const CHART_MARGINS = { left: 52, right: 16, top: 10, bottom: 36 };

export class ObserverView {
  #channel: MechanismChannel;
  readonly #questions: readonly Question[];
  readonly #item = byId<HTMLSelectElement>("claim-item");
  readonly #value = byId<HTMLSelectElement>("claim-value");
  readonly #before = byId<HTMLInputElement>("before");
  readonly #point = svg("circle", { class: "after", r: 6 });
  readonly #priorLine = svg("line", { class: "drop" });
  readonly #posteriorRangeLine = svg("line", { class: "span" });
  readonly #reportCurve = svg("path", { class: "own" });
  #visitorAnswers: Answers = {};
  /** True if the visitor has chosen the claim whose probability is shown. */
  #isClaimChosen = false;
  /** Upload that contains the displayed report. */
  #upload: Uint8Array | null = null;

  constructor(channel: MechanismChannel, questions: readonly Question[]) {
    this.#channel = channel;
    this.#questions = questions;
    this.#item.replaceChildren(
      ...questions.map(({ item, label }) => el("option", { value: item }, `“${label}”`)),
    );
    // All channels have the same ε, so the frame is drawn once.
    this.#drawChartFrame(Math.exp(channel.taskResponse.task.epsilon));
    this.#item.addEventListener("change", () => {
      this.#isClaimChosen = true;
      this.#claimOwnAnswer();
      this.#update();
    });
    this.#value.addEventListener("change", () => {
      this.#isClaimChosen = true;
      this.#update();
    });
    this.#before.addEventListener("input", () => this.#update());
  }

  /** Shows the conclusions from a new report, which was made from these true answers. */
  show(channel: MechanismChannel, answers: Answers, upload: Uint8Array): void {
    this.#channel = channel;
    byId("observer-bound").replaceChildren(...epsilonBoundInWords(channel));
    this.#visitorAnswers = answers;
    this.#upload = upload;
    if (!this.#isClaimChosen) {
      const item = this.#mostRevealingItem();
      if (item) this.#item.value = item;
      this.#claimOwnAnswer();
    }
    this.#update();
  }

  /**
   * Returns the answered item whose true answer the report supports most. This is the worst case
   * for the visitor.
   */
  #mostRevealingItem(): string | undefined {
    const upload = this.#upload;
    const answers = this.#visitorAnswers;
    if (!upload) return undefined;
    const ratio = (item: string) =>
      this.#beliefInClaim(upload, item, answers[item] ?? 0, 0.5).ratio;
    const answered = this.#questions.map(({ item }) => item).filter((item) => answers[item]);
    return answered.sort((a, b) => ratio(b) - ratio(a))[0];
  }

  #beliefInClaim(upload: Uint8Array, item: string, claim: 1 | -1 | 0, before: number): Belief {
    return this.#channel.explainer.belief(this.#visitorAnswers, upload, item, claim, before);
  }

  #claimOwnAnswer(): void {
    this.#value.value = String(this.#visitorAnswers[this.#item.value] ?? 0);
  }

  #update(): void {
    if (!this.#upload) return;
    const before = this.#before.valueAsNumber / 100;
    const claim = Number(this.#value.value) as 1 | -1 | 0;
    const found = this.#beliefInClaim(this.#upload, this.#item.value, claim, before);
    const [least, most] = found.bounds;
    const was = formatPercent(before);
    byId("before-out").textContent = was;
    this.#before.setAttribute("aria-valuetext", was);

    setAttributes(this.#point, { cx: xOfBelief(before), cy: yOfBelief(found.after) });
    setAttributes(this.#posteriorRangeLine, {
      x1: xOfBelief(before),
      x2: xOfBelief(before),
      y1: yOfBelief(least),
      y2: yOfBelief(most),
    });
    setAttributes(this.#priorLine, {
      x1: xOfBelief(before),
      x2: xOfBelief(before),
      y1: yOfBelief(0),
      y2: yOfBelief(1),
    });
    this.#reportCurve.setAttribute("d", beliefCurvePath(found.ratio));

    const moved =
      Math.abs(found.ratio - 1) < 1e-9
        ? `This report leaves the observer’s belief at ${was}: the report is equally likely with and without that answer.`
        : `This report moves the observer’s belief to ${formatPercent(found.after)}: the report is ${likelihoodInWords(found.ratio)} with that answer than without it.`;
    byId("belief-text").replaceChildren(
      el("strong", {}, moved),
      ` No report can move the belief below ${formatPercent(least, 1)} or above ${formatPercent(most, 1)}.`,
    );
    byId("belief-desc").textContent =
      `Belief in “${this.#item.value}: ${answerWord(claim)}”: ${was} before, ` +
      `${formatPercent(found.after)} after, never outside ${formatPercent(least, 1)} to ${formatPercent(most, 1)}.`;
  }

  #drawChartFrame(bound: number): void {
    const chart = byId<SVGSVGElement>("belief");
    const upper = beliefCurvePoints(bound);
    const lower = beliefCurvePoints(1 / bound).reverse();
    const axis = (anchor: string, at: [number, number], text: string) =>
      svg("text", { x: at[0], y: at[1], "text-anchor": anchor }, text);
    chart.append(
      svg("path", { class: "reach", d: `M${[...upper, ...lower].join("L")}Z` }),
      svg("path", {
        class: "unmoved",
        d: `M${xOfBelief(0)},${yOfBelief(0)}L${xOfBelief(1)},${yOfBelief(1)}`,
      }),
      svg("path", {
        class: "frame",
        d: `M${xOfBelief(0)},${yOfBelief(1)}V${yOfBelief(0)}H${xOfBelief(1)}`,
      }),
      ...[0, 0.5, 1].flatMap((share) => [
        axis("middle", [xOfBelief(share), yOfBelief(0) + 15], formatPercent(share)),
        axis("end", [xOfBelief(0) - 5, yOfBelief(share) + 4], formatPercent(share)),
      ]),
      axis("middle", [xOfBelief(0.5), SIZE - 4], "belief before"),
      svg(
        "text",
        { transform: `translate(9 ${yOfBelief(0.5)}) rotate(-90)`, "text-anchor": "middle" },
        "belief after",
      ),
      this.#reportCurve,
      this.#priorLine,
      this.#posteriorRangeLine,
      this.#point,
    );
  }
}

function epsilonBoundInWords({
  taskResponse: answer,
  epsilonScope: covers,
}: MechanismChannel): (Node | string)[] {
  const { epsilon, sparsity } = answer.task;
  const bound = formatThreeDigits(Math.exp(epsilon));
  const sure = `${bound}: from 50\u00a0% sure to at most ${maximumCertaintyPercent(epsilon)}\u00a0% sure`;
  const most = [expEpsilonElement(), ` = ${sure}.`];
  const close = " This holds for every report and any computing power.";
  switch (covers) {
    case "input":
      return [
        "For anyone who sees this report, including the collector, the odds of a guess about your answers change by at most a factor of ",
        ...most,
        close,
      ];
    case "entry":
      return [
        "For anyone who sees this report and knows your other answers, the odds of a guess about the remaining answer change by at most a factor of ",
        ...most,
        ` This promise is weaker than that of the other mechanisms. The factor is ` +
          `${formatThreeDigits(Math.exp(2 * epsilon))} for two answers together and ` +
          `${formatThreeDigits(Math.exp(sparsity * epsilon))} for all ${sparsity} answers.${close}`,
      ];
  }
}

function likelihoodInWords(ratio: number): string {
  return ratio > 1
    ? `${formatThreeDigits(ratio)} times more likely`
    : `${formatThreeDigits(1 / ratio)} times less likely`;
}

function xOfBelief(share: number): number {
  return CHART_MARGINS.left + share * (SIZE - CHART_MARGINS.left - CHART_MARGINS.right);
}

function yOfBelief(share: number): number {
  return SIZE - CHART_MARGINS.bottom - share * (SIZE - CHART_MARGINS.top - CHART_MARGINS.bottom);
}

function beliefCurvePoints(ratio: number): string[] {
  return Array.from({ length: 41 }, (_, i) => {
    const before = i / 40;
    return `${xOfBelief(before).toFixed(1)},${yOfBelief(posterior(before, ratio)).toFixed(1)}`;
  });
}

function beliefCurvePath(ratio: number): string {
  return `M${beliefCurvePoints(ratio).join("L")}`;
}
