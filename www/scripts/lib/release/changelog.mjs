// Finds the changes of a version in CHANGELOG.md.

const HEADING = /^## (\S+).*$/gm;

/**
 * Returns the text below the second-level heading whose first word is `name`, or undefined.
 *
 * @param {string} text
 * @param {string} name
 * @returns {string | undefined}
 */
export function changelogSection(text, name) {
  const headings = [...text.matchAll(HEADING)];
  const at = headings.findIndex(([, first]) => first === name);
  const [own, next] = [headings[at], headings[at + 1]];
  if (own === undefined) {
    return undefined;
  }
  const body = text.slice(own.index + own[0].length, next?.index).trim();
  return body === "" ? undefined : `${body}\n`;
}
