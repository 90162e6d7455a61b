// The view of what an upload reveals: the question that it answers, and an observer's belief in
// each possible answer before and after.

import type { Explanation } from "../../shared/analysis.js";
import { byId, el } from "../../shared/dom.js";
import { formatPercent, formatThreeDigits } from "../../shared/format.js";

/** Shows what an upload reveals about the visit from which it was made. */
export function showRevealed(told: Explanation): void {
  byId("told-text").textContent = revealedText(told);
  byId("told-rows").replaceChildren(
    ...told.meanings.map(({ label, own, before, after, ratio }) =>
      el(
        "tr",
        { "data-own": own },
        el("th", { scope: "row" }, label, own ? el("span", { class: "tag" }, "yours") : ""),
        el("td", {}, formatPercent(before)),
        el("td", {}, formatPercent(after)),
        el("td", {}, formatThreeDigits(ratio)),
      ),
    ),
  );
}

/**
 * Describes in words which question a report answers, and how far it can change an observer's odds.
 */
export function revealedText({ question, kind, coded, ratios }: Explanation): string {
  const [, most] = ratios;
  const said = coded.map(({ label }) => label).join(" and ") || "nothing";
  const alone = kind === "set" ? "one option, if all other options are known," : "an answer";
  return `These bytes answer the question ${question} and reveal nothing about the other questions. They were made from your answer: ${said}. No report changes the odds of ${alone} by more than a factor of ${formatThreeDigits(most)}.`;
}
