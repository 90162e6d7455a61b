// The chapter on an observer who sees the visitor's report, and on the observer's belief before and
// after.

import { certaintyOf } from "../../client/certainty.js";
import { type Belief, posterior } from "../shared/analysis.js";
import { byId, el, eToEpsilon, setAll, svg } from "../shared/dom.js";
import { percent, short } from "../shared/format.js";
import type { Channel } from "./channel.js";
import type { Answers } from "./mechanism/mechanism.js";
import { answerWord, type Question } from "./questions.js";

const SIZE = 260;
const EDGE = { left: 52, right: 16, top: 10, bottom: 36 };

export class Observer {
  #channel: Channel;
  readonly #questions: readonly Question[];
  readonly #item = byId<HTMLSelectElement>("claim-item");
  readonly #value = byId<HTMLSelectElement>("claim-value");
  readonly #before = byId<HTMLInputElement>("before");
  readonly #point = svg("circle", { class: "after", r: 6 });
  readonly #drop = svg("line", { class: "drop" });
  readonly #span = svg("line", { class: "span" });
  readonly #own = svg("path", { class: "own" });
  #answers: Answers = {};
  /** True if the visitor has chosen the claim whose probability is shown. */
  #chosen = false;
  /** Upload that contains the displayed report. */
  #upload: Uint8Array | null = null;

  constructor(channel: Channel, questions: readonly Question[]) {
    this.#channel = channel;
    this.#questions = questions;
    this.#item.replaceChildren(
      ...questions.map(({ item, label }) => el("option", { value: item }, `“${label}”`)),
    );
    // All channels have the same ε, so the frame is drawn once.
    this.#frame(Math.exp(channel.answer.task.epsilon));
    this.#item.addEventListener("change", () => {
      this.#chosen = true;
      this.#claimOwnAnswer();
      this.#update();
    });
    this.#value.addEventListener("change", () => {
      this.#chosen = true;
      this.#update();
    });
    this.#before.addEventListener("input", () => this.#update());
  }

  /** Shows the conclusions from another report. `answers` are the true answers behind it. */
  show(channel: Channel, answers: Answers, upload: Uint8Array): void {
    this.#channel = channel;
    byId("observer-bound").replaceChildren(...boundInWords(channel));
    this.#answers = answers;
    this.#upload = upload;
    if (!this.#chosen) {
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
    const answers = this.#answers;
    if (!upload) return undefined;
    const ratio = (item: string) => this.#belief(upload, item, answers[item] ?? 0, 0.5).ratio;
    const answered = this.#questions.map(({ item }) => item).filter((item) => answers[item]);
    return answered.sort((a, b) => ratio(b) - ratio(a))[0];
  }

  #belief(upload: Uint8Array, item: string, claim: 1 | -1 | 0, before: number): Belief {
    return this.#channel.explainer.belief(this.#answers, upload, item, claim, before);
  }

  #claimOwnAnswer(): void {
    this.#value.value = String(this.#answers[this.#item.value] ?? 0);
  }

  #update(): void {
    if (!this.#upload) return;
    const before = this.#before.valueAsNumber / 100;
    const claim = Number(this.#value.value) as 1 | -1 | 0;
    const found = this.#belief(this.#upload, this.#item.value, claim, before);
    const [least, most] = found.bounds;
    const was = percent(before);
    byId("before-out").textContent = was;
    this.#before.setAttribute("aria-valuetext", was);

    setAll(this.#point, { cx: x(before), cy: y(found.after) });
    setAll(this.#span, { x1: x(before), x2: x(before), y1: y(least), y2: y(most) });
    setAll(this.#drop, { x1: x(before), x2: x(before), y1: y(0), y2: y(1) });
    this.#own.setAttribute("d", curve(found.ratio));

    const moved =
      Math.abs(found.ratio - 1) < 1e-9
        ? `This report leaves the belief at ${was}: the report is equally likely with and without that answer.`
        : `This report moves the belief to ${percent(found.after)}: the report is ${times(found.ratio)} with that answer.`;
    byId("belief-text").replaceChildren(
      el("strong", {}, moved),
      ` No report can move it below ${percent(least, 1)} or above ${percent(most, 1)}.`,
    );
    byId("belief-desc").textContent =
      `Belief in “${this.#item.value}: ${answerWord(claim)}”: ${was} before, ` +
      `${percent(found.after)} after, never outside ${percent(least, 1)} to ${percent(most, 1)}.`;
  }

  #frame(bound: number): void {
    const chart = byId<SVGSVGElement>("belief");
    const upper = points(bound);
    const lower = points(1 / bound).reverse();
    const axis = (anchor: string, at: [number, number], text: string) =>
      svg("text", { x: at[0], y: at[1], "text-anchor": anchor }, text);
    chart.append(
      svg("path", { class: "reach", d: `M${[...upper, ...lower].join("L")}Z` }),
      svg("path", { class: "unmoved", d: `M${x(0)},${y(0)}L${x(1)},${y(1)}` }),
      svg("path", { class: "frame", d: `M${x(0)},${y(1)}V${y(0)}H${x(1)}` }),
      ...[0, 0.5, 1].flatMap((share) => [
        axis("middle", [x(share), y(0) + 15], percent(share)),
        axis("end", [x(0) - 5, y(share) + 4], percent(share)),
      ]),
      axis("middle", [x(0.5), SIZE - 4], "belief before"),
      svg(
        "text",
        { transform: `translate(9 ${y(0.5)}) rotate(-90)`, "text-anchor": "middle" },
        "belief after",
      ),
      this.#own,
      this.#drop,
      this.#span,
      this.#point,
    );
  }
}

function boundInWords({ answer, covers }: Channel): (Node | string)[] {
  const { epsilon, sparsity } = answer.task;
  const bound = short(Math.exp(epsilon));
  const sure = `${bound}: from 50\u00a0% sure to at most ${certaintyOf(epsilon)}\u00a0% sure`;
  const most = [eToEpsilon(), ` = ${sure}.`];
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
          `${short(Math.exp(2 * epsilon))} for two answers together and ` +
          `${short(Math.exp(sparsity * epsilon))} for all ${sparsity} answers.${close}`,
      ];
  }
}

function times(ratio: number): string {
  return ratio > 1 ? `${short(ratio)} times more likely` : `${short(1 / ratio)} times less likely`;
}

function x(share: number): number {
  return EDGE.left + share * (SIZE - EDGE.left - EDGE.right);
}

function y(share: number): number {
  return SIZE - EDGE.bottom - share * (SIZE - EDGE.top - EDGE.bottom);
}

function points(ratio: number): string[] {
  return Array.from({ length: 41 }, (_, i) => {
    const before = i / 40;
    return `${x(before).toFixed(1)},${y(posterior(before, ratio)).toFixed(1)}`;
  });
}

function curve(ratio: number): string {
  return `M${points(ratio).join("L")}`;
}
