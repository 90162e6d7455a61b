/** The README and the book's chapters as a sequence of a reader's steps. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CHAPTERS_DIR as BOOK } from "../../../../www/scripts/lib/book/links.mjs";
import { ROOT } from "../../../../www/scripts/lib/paths.mjs";

/**
 * A step of a chapter, from a block of code: ` ```LANGUAGE WORD `.
 *
 * - `file`: LANGUAGE, with the file name as WORD; the block is saved.
 * - `run`: `sh`; a following block of `text` shows its output.
 * - `serve`: `sh server`, runs until the chapter ends.
 * - `elsewhere`: `sh elsewhere`, which no test can run unchanged.
 * - `open`: `<!-- open FILE: TEXT -->`, a page that is opened until it shows TEXT.
 * - `after`: `<!-- after FILE -->`, another chapter, which this one continues.
 */
export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | { readonly kind: "run"; readonly script: string; readonly output?: string }
  | { readonly kind: "serve"; readonly script: string }
  | { readonly kind: "elsewhere"; readonly script: string }
  | { readonly kind: "after"; readonly path: string }
  | { readonly kind: "open"; readonly name: string; readonly until: string };

export interface Chapter {
  /** Path of the file, from the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly steps: readonly Step[];
}

const PIECE =
  /^```(?<language>\w+)(?: (?<word>\S+))?\n(?<code>[\s\S]*?)^```$(?:\n\n```text\n(?<output>[\s\S]*?)^```$)?|^<!-- open (?<name>\S+): (?<until>.*) -->$|^<!-- after (?<path>\S+) -->$/gm;

function stepOf(groups: Record<string, string | undefined>): Step | undefined {
  const { language, word, code = "", output, name, until = "", path } = groups;
  if (path !== undefined) {
    return { kind: "after", path };
  }
  if (name !== undefined) {
    return { kind: "open", name, until };
  }
  if (language !== "sh") {
    return word === undefined ? undefined : { kind: "file", name: word, text: code };
  }
  switch (word) {
    case undefined:
      return { kind: "run", script: code, ...(output === undefined ? {} : { output }) };
    case "server":
      return { kind: "serve", script: code };
    case "elsewhere":
      return { kind: "elsewhere", script: code };
    default:
      throw new Error(`a block of sh is of kind ${word}, which there is not`);
  }
}

/** @param path path from the root of the repository */
export function chapter(path: string): Chapter {
  const text = readFileSync(join(ROOT, path), "utf8");
  const steps = [...text.matchAll(PIECE)].flatMap(({ groups = {} }) => stepOf(groups) ?? []);
  return { path, text, steps };
}

const files = readdirSync(join(ROOT, BOOK), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .sort();

export const CHAPTERS: readonly Chapter[] = [
  "README.md",
  ...files.map((file) => `${BOOK}/${file}`),
].map(chapter);
