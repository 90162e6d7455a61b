// Converts formulas to MathML, which browsers draw and screen readers read without scripts or
// fonts.

import katex from "katex";

const DISPLAYED = /^```math\n([\s\S]*?)^```$/gm;
const INLINE = /\$`([^`]+)`\$/g;

const mathml = (formula, displayMode) =>
  katex
    .renderToString(formula.trim(), { output: "mathml", displayMode, strict: "error" })
    // Remove the TeX source, which Markdown would interpret, and line ends, which would end a block
    // of HTML.
    .replace(/<annotation[\s\S]*?<\/annotation>/g, "")
    .replaceAll("\n", " ");

/**
 * Replaces the formulas of a chapter, in GitHub's TeX syntax, with MathML.
 *
 * @param {string} text
 */
export function withFormulas(text) {
  return text
    .replace(DISPLAYED, (_, formula) => mathml(formula, true))
    .replace(INLINE, (_, formula) => mathml(formula, false));
}
