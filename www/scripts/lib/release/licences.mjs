// Licence notices of everything that is linked. Each licence text appears once, below the names of
// all components that have this text.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { componentKey } from "./components.mjs";

const FILES = /^(licen[cs]e|copying|copyright|notice|unlicense)/i;

/**
 * Reads the licence texts in the folder of a package.
 *
 * @param {string} folder of a package
 * @param {RegExp} [names] of the files
 * @returns {string[]} the texts of its licences
 */
export function licenceTextsIn(folder, names = FILES) {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder)
    .filter((name) => names.test(name) && statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim());
}

/**
 * Pattern of licences that offer the same choice as the licence of hushbin. For them, the shorter
 * of the two texts is enough.
 */
const DUAL_LICENCE_PATTERN = /^(MIT OR Apache-2\.0|Apache-2\.0 OR MIT)$/;

/**
 * Returns the licence texts that the notice of a package needs.
 *
 * @param {string} folder of a package
 * @param {string} licence
 */
export function chosenTexts(folder, licence) {
  const short = DUAL_LICENCE_PATTERN.test(licence)
    ? licenceTextsIn(folder, /^licen[cs]e.*mit/i)
    : [];
  return short.length > 0 ? short : licenceTextsIn(folder);
}

/**
 * Returns the name, the licence and the licence texts of each component.
 *
 * @param {readonly import("./components.mjs").Component[]} components
 * @param {ReadonlyMap<string, string>} folders by key
 */
export const componentLicences = (components, folders) =>
  components.map((one) => {
    const name = componentKey(one);
    return { name, licence: one.licence, texts: chosenTexts(folders.get(name) ?? "", one.licence) };
  });

/**
 * Returns one text with the notices of all components.
 *
 * @param {string} title
 * @param {readonly { name: string, licence: string, texts: readonly string[] }[]} parts
 * @returns {string}
 */
export function notices(title, parts) {
  /** @type {Map<string, string[]>} */
  const holders = new Map();
  for (const { name, licence, texts } of parts) {
    const shown = texts.length > 0 ? texts : [`${licence}; its package holds no text.`];
    for (const text of shown) {
      holders.set(text, [...(holders.get(text) ?? []), name]);
    }
  }
  const rule = `\n\n${"-".repeat(80)}\n\n`;
  const told = [...holders].map(([text, names]) => `${names.join("\n")}\n\n${text}`);
  return `${[title, ...told].join(rule)}\n`;
}
