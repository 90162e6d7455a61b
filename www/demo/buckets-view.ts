// Where a seed puts the answers, and how likely each bucket was.

import type { Dissected } from "./bytes.js";
import type { NamedTask } from "./collector.js";
import { byId, el, svg } from "./dom.js";
import { percent } from "./format.js";
import { bucketOf, slotsPerBucket } from "./hash.js";
import { type Answers, elementsOf, hashOf, probabilities, type TaskElement } from "./likelihood.js";
import { answerWord, type Question } from "./questions.js";

/** Shows the buckets of a report. */
export function showBuckets(
  task: NamedTask,
  questions: readonly Question[],
  answers: Answers,
  report: Dissected,
): void {
  const hash = hashOf(task);
  const held: TaskElement[][] = Array.from({ length: hash.buckets }, () => []);
  for (const element of elementsOf(task, answers)) {
    held[bucketOf(hash, report.seed, element.element)]?.push(element);
  }
  const chances = probabilities(
    task,
    held.map((elements) => elements.length),
  );
  const most = Math.max(...chances);
  byId("buckets").replaceChildren(
    ...held.map((elements, bucket) => {
      const chance = chances[bucket] ?? 0;
      const reported = bucket === report.bucket;
      const words = elements.map((element) => wordsOf(element, questions));
      return el(
        "li",
        { "data-reported": reported },
        svg(
          "svg",
          { viewBox: "0 0 10 40", preserveAspectRatio: "none", "aria-hidden": "true" },
          svg("rect", {
            x: 0,
            width: 10,
            y: 40 - (chance / most) * 40,
            height: (chance / most) * 40,
          }),
        ),
        el(
          "span",
          { class: "chips", "aria-hidden": "true" },
          ...elements.map((e) => chip(e, questions)),
        ),
        el("span", { class: "bucket-number", "aria-hidden": "true" }, `${bucket}`),
        el(
          "span",
          { class: "unseen" },
          `Bucket ${bucket}: ${words.join(", ") || "none of yours"}; chance ${percent(chance, 1)}${reported ? "; reported" : ""}`,
        ),
      );
    }),
  );
  byId("buckets-text").textContent = explain(held, chances, report.bucket, questions, task);
}

function explain(
  held: readonly TaskElement[][],
  chances: readonly number[],
  bucket: number,
  questions: readonly Question[],
  task: NamedTask,
): string {
  const yours = (held[bucket] ?? []).filter(({ item }) => item !== null);
  const holds =
    yours.length > 0
      ? `holds ${yours.map((element) => wordsOf(element, questions)).join(" and ")}`
      : (held[bucket] ?? []).length > 0
        ? "holds only padding"
        : "holds nothing of yours";
  const alone =
    slotsPerBucket(hashOf(task)) === 1
      ? " (with so few questions each has one to itself; long lists share)"
      : "";
  const likely = percent(Math.max(...chances), 1);
  const unlikely = percent(Math.min(...chances), 1);
  return (
    `Answers and padding make ${task.sparsity} elements, whatever you answer. The seed says which of ` +
    `${task.mechanism.buckets} buckets every possible element falls into${alone}, then one bucket is ` +
    `drawn by weighted chance: ${likely} for those that are favoured, ${unlikely} for the others. This ` +
    `time it was bucket ${bucket}, which ${holds}.`
  );
}

function chip({ item, sign }: TaskElement, questions: readonly Question[]): HTMLElement {
  if (item === null) return el("span", { class: "chip pad" }, "·");
  const number = questions.findIndex((question) => question.item === item) + 1;
  return el("span", { class: `chip ${answerWord(sign)}` }, `${number}`);
}

function wordsOf({ item, sign }: TaskElement, questions: readonly Question[]): string {
  if (item === null) return "padding";
  const question = questions.find((known) => known.item === item);
  return `your “${question?.label ?? item}: ${answerWord(sign)}”`;
}
