/** Display of names that come from task files. */

/** Control characters, separators of lines and paragraphs, and controls of bidirectional text. */
const HIDDEN_CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Names that no direction of writing changes: from an English letter to a letter or digit. */
const DIRECTION_FREE = /^[A-Za-z](?:[ -~]*[A-Za-z0-9])?$/;

/**
 * Returns a text with visible control characters, as in `U+202E`.
 *
 * @internal
 */
export const visibleText = (text: string): string =>
  text.replace(
    HIDDEN_CONTROL,
    (own) => `U+${own.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
  );

/**
 * Returns a name as a page shows it, with visible control characters. The text around the name
 * keeps its order even if the name is written from right to left: invisible characters isolate it,
 * as `<bdi>` does. These also work in attributes, in SVG and in options.
 *
 * @internal
 */
export function displayedName(name: string): string {
  const visible = visibleText(name);
  return DIRECTION_FREE.test(visible) ? visible : `\u2068${visible}\u2069`;
}
