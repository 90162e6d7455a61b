// Parts of the pictures that mechanisms share.

import { el, svg } from "../../shared/dom.js";
import { percent } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import { answerWord, type Question } from "../questions.js";
import type { Answers, Picture } from "./kind.js";

/** An answer with its place in the task. */
export interface Entry {
  readonly index: number;
  readonly sign: 1 | -1;
}

/** The answers given, in the task's order. */
export function entriesOf({ items }: NamedTask, answers: Answers): Entry[] {
  return items.flatMap((item, index) => {
    const sign = answers[item];
    return sign ? [{ index, sign }] : [];
  });
}

/** As many questions as a report holds, all yes and all no. */
export function extremesOf({ items, sparsity }: NamedTask): [Answers, Answers] {
  const all = (sign: 1 | -1): Answers =>
    Object.fromEntries(items.slice(0, sparsity).map((item) => [item, sign]));
  return [all(1), all(-1)];
}

/** A numbered chip for an answer, a dotted one for padding. */
export function chipOf(entry: Entry | null): HTMLElement {
  return entry
    ? el("span", { class: `chip ${answerWord(entry.sign)}` }, `${entry.index + 1}`)
    : el("span", { class: "chip pad" }, "·");
}

/** Answers in words: your “Dark mode: yes” and padding. */
export function listed(entries: readonly (Entry | null)[], questions: readonly Question[]): string {
  return entries
    .map((entry) =>
      entry
        ? `your “${questions[entry.index]?.label ?? entry.index}: ${answerWord(entry.sign)}”`
        : "padding",
    )
    .join(" and ");
}

/** One of several things that can be reported. */
export interface Bar {
  readonly name: string;
  readonly chance: number;
  readonly reported: boolean;
  readonly chips: readonly HTMLElement[];
  readonly words: string;
}

/** What can be reported, with its chances (up to `most`) and what of yours is in it. */
export function bars(label: string, all: readonly Bar[], most: number): HTMLElement {
  return el(
    "ol",
    { class: "buckets", "aria-label": label },
    ...all.map(({ name, chance, reported, chips, words }) =>
      el(
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
        el("span", { class: "chips", "aria-hidden": "true" }, ...chips),
        el("span", { class: "bucket-number", "aria-hidden": "true" }, name),
        el(
          "span",
          { class: "unseen" },
          `${words}; chance ${percent(chance, 1)}${reported ? "; reported" : ""}`,
        ),
      ),
    ),
  );
}

type Key = Picture["key"][number];

/** What chips mean. */
export function chipKey({ padding = true, bars = true } = {}): Key[] {
  return [
    [el("span", { class: "chip yes" }, "1"), "question 1, yes"],
    [el("span", { class: "chip no" }, "1"), "question 1, no"],
    ...(padding ? [[el("span", { class: "chip pad" }, "·"), "padding"] as const] : []),
    ...(bars ? [[el("span", { class: "swatch-bar" }), "chance to be reported"] as const] : []),
  ];
}

export const REPORTED_KEY = (): Key => [el("span", { class: "swatch-reported" }), "reported"];
