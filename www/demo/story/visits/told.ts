// What the bytes of a visit say: which question they answer, and what whoever reads
// them makes of each answer there could have been.

import type { Told } from "../../shared/analysis.js";
import { byId, el } from "../../shared/dom.js";
import { percent, short } from "../../shared/format.js";

/** Shows what an upload tells of the visit that it was made of. */
export function showTold(told: Told): void {
  byId("told-text").textContent = toldWords(told);
  byId("told-rows").replaceChildren(
    ...told.meanings.map(({ label, own, before, after, ratio }) =>
      el(
        "tr",
        { "data-own": own },
        el("th", { scope: "row" }, label, own ? el("span", { class: "tag" }, "yours") : ""),
        el("td", {}, percent(before)),
        el("td", {}, percent(after)),
        el("td", {}, short(ratio)),
      ),
    ),
  );
}

/** Which question is answered, and how far that can be told. */
export function toldWords({ question, kind, coded, ratios }: Told): string {
  const [, most] = ratios;
  const said = coded.map(({ label }) => label).join(" and ") || "nothing";
  const alone = kind === "set" ? "an option, of somebody whose others are known," : "an answer";
  return `These bytes answer ${question}, and say nothing of the others. Your answer, ${said}, went into them; no report moves the odds of ${alone} by more than ${short(most)} times.`;
}
