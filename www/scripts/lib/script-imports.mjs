// Finds imports between TypeScript files: static imports, re-exports, dynamic imports, and workers
// that a literal names. Imports of types count too, because readers follow them as well.

import { posix } from "node:path";

const IMPORT = new RegExp(
  [
    String.raw`\b(?:import|export)\b[^;"'\`()]*?\bfrom\s*["'](?<from>[^"']+)["']`,
    String.raw`\bimport\s*["'](?<bare>[^"']+)["']`,
    String.raw`\bimport\(\s*["'](?<dynamic>[^"']+)["']`,
    String.raw`\bnew\s+URL\(\s*["'](?<url>[^"']+)["'],\s*import\.meta\.url`,
  ].join("|"),
  "g",
);

/**
 * Returns the arrows (imports) between TypeScript files.
 *
 * @param {ReadonlyMap<string, string>} sources each file's text
 * @param {Readonly<Record<string, string>>} [names] files by the bare name that imports use
 * @returns {import("./rust-imports.mjs").Arrow[]}
 */
export function findScriptImports(sources, names = {}) {
  const arrows = [];
  for (const [file, source] of sources) {
    const text = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*/gm, (comment) =>
      comment.replace(/[^\n]/g, " "),
    );
    for (const match of text.matchAll(IMPORT)) {
      const { from, bare, dynamic, url } = match.groups ?? {};
      const name = from ?? bare ?? dynamic ?? url ?? "";
      const written = name.startsWith(".") ? posix.join(posix.dirname(file), name) : names[name];
      const to = [written, written?.replace(/\.js$/, ".ts")].find((path) =>
        sources.has(path ?? ""),
      );
      if (to !== undefined && to !== file) {
        const line = text.slice(0, match.index).split("\n").length;
        arrows.push({ from: file, to, line, name });
      }
    }
  }
  return arrows;
}
