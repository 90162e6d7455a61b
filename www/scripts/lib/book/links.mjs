// Rewrites links in the book's chapters.
//
// Chapters link to paths of the repository, so that people can follow the links there and tools can
// check them. In the book, links lead to chapters, or to the repository on the web.

import { posix } from "node:path";

/** Folder of the chapters. */
export const CHAPTERS_DIR = "www/docs/src";
/** Folder of the demo's pages, below which the book is served. */
const DEMO_PAGES_DIR = "www/demo";
/** Address of the repository, without a slash at the end. */
const REPOSITORY_URL = "https://github.com/hushbin/hushbin";

/** Pattern of code, in which nothing is a link: fenced blocks, then spans. */
const MARKDOWN_CODE_PATTERN = /^ *(`{3,})[\s\S]*?^ *\1`*$|(`+)[^`][\s\S]*?\2(?!`)/gm;
const LINK = /(\]\()([^)\s]+)(\))|(\s(?:src|srcset|href)=")([^"]+)(")/g;

/**
 * Applies a change to all parts of a text that are not code.
 *
 * @param {string} text
 * @param {(prose: string) => string} change
 */
export function changeOutsideCode(text, change) {
  let changed = "";
  let end = 0;
  for (const found of text.matchAll(MARKDOWN_CODE_PATTERN)) {
    changed += change(text.slice(end, found.index)) + found[0];
    end = found.index + found[0].length;
  }
  return changed + change(text.slice(end));
}

/**
 * Returns the target that a link of the repository gets in the book.
 *
 * @param {string} target as written in a file
 * @param {string} file the repository's file that contains the link
 * @param {object} book
 * @param {string} book.chapter the chapter that shows the file, below {@link CHAPTERS_DIR}
 * @param {ReadonlyMap<string, string>} book.shown chapters, each by the file of the repository that
 * it shows
 * @param {(path: string) => boolean} book.isFolder
 */
function bookLinkTarget(target, file, { chapter, shown, isFolder }) {
  if (/^(?:[a-z]+:|#)/.test(target)) {
    return target;
  }
  const [path = "", fragment] = target.split("#");
  const anchor = fragment === undefined ? "" : `#${fragment}`;
  const own = posix.join(posix.dirname(file), path);
  const home = shown.get(own) ?? (own.startsWith(`${CHAPTERS_DIR}/`) ? own : undefined);
  if (home !== undefined) {
    const from = posix.join(CHAPTERS_DIR, posix.dirname(chapter));
    return posix.relative(from, home) + anchor;
  }
  const beside = posix.relative(DEMO_PAGES_DIR, own);
  if (beside.endsWith(".html") && !beside.startsWith("..")) {
    return posix.relative(posix.join("book", posix.dirname(chapter)), beside) + anchor;
  }
  const kind = isFolder(own) ? "tree" : "blob";
  return `${REPOSITORY_URL}/${kind}/main/${own.replace(/\/$/, "")}${anchor}`;
}

/**
 * Rewrites the links of a text for the book.
 *
 * @param {string} text of `file`
 * @param {string} file
 * @param {Parameters<typeof bookLinkTarget>[2]} book
 */
export function rewriteLinksForBook(text, file, book) {
  return changeOutsideCode(text, (prose) =>
    prose.replace(LINK, (_, ...found) => {
      const [open, target, close] = found[0] === undefined ? found.slice(3) : found;
      return open + bookLinkTarget(target, file, book) + close;
    }),
  );
}
