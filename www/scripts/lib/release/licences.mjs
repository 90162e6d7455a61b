// The notices of everything that is linked, as their licences ask for: each text once, below the
// names of all that have it.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const FILES = /^(licen[cs]e|copying|copyright|notice|unlicense)/i;

/**
 * @param {string} folder of a package
 * @returns {string[]} the texts of its licences
 */
export function textsIn(folder) {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder)
    .filter((name) => FILES.test(name) && statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n").trim());
}

/**
 * @param {readonly { name: string, licence: string, texts: readonly string[] }[]} parts
 * @returns {string}
 */
export function notices(parts) {
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
  return `${["What is linked into the program, and under which licences.", ...told].join(rule)}\n`;
}
