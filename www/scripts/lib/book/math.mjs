// Formulas, as MathML: browsers draw it and screen readers read it, without scripts or fonts.

import katex from "katex";

const DISPLAYED = /^```math\n([\s\S]*?)^```$/gm;
const INLINE = /\$`([^`]+)`\$/g;

const mathml = (formula, displayMode) =>
  katex
    .renderToString(formula.trim(), { output: "mathml", displayMode, strict: "error" })
    // TeX within, which Markdown would read, and lines, which would end a block of HTML.
    .replace(/<annotation[\s\S]*?<\/annotation>/g, "")
    .replaceAll("\n", " ");

/**
 * A chapter with its formulas, TeX as GitHub writes them, drawn.
 *
 * @param {string} text
 */
export function withFormulas(text) {
  return text
    .replace(DISPLAYED, (_, formula) => mathml(formula, true))
    .replace(INLINE, (_, formula) => mathml(formula, false));
}
