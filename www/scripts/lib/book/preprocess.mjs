// Preprocessor of mdBook. It inserts documents of the repository, and converts pictures, links and
// formulas.
//
// A paragraph may consist of a link, with the title "all of it", to a document of the repository.
// In the book, the whole document takes its place, with headings one level lower. A link to the
// collector's OpenAPI document or to the package's entry file is replaced by the reference instead.

import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { text } from "node:stream/consumers";
import { API_REFERENCE_FILE, ROOT } from "../paths.mjs";
import { CHAPTERS, rewriteLinksForBook } from "./links.mjs";
import { withFormulas } from "./math.mjs";
import { openapiPage } from "./openapi.mjs";
import { withPictures } from "./pictures.mjs";

const DOCUMENT_LINK_PATTERN = /^\[[^\]]*\]\((\S+) "all of it"\)$/m;

/** Languages that the book's highlighter does not know, each with the language that replaces it. */
const HIGHLIGHTER_LANGUAGES = { tsx: "ts", vue: "html", svelte: "html" };

const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** Returns the text of a document, changed so that it can follow the heading of a chapter. */
function textBelowHeading(document) {
  const own = document.replace(/^# .*\n/, "");
  // If the document has more first-level headings, all headings are moved one level down.
  return /^# /m.test(own) ? own.replace(/^#+ /gm, (heading) => `#${heading}`) : own;
}

/** Returns the Markdown that the book shows for a document of the repository. */
function documentMarkdown(path) {
  switch (path) {
    case "server/src/http/openapi.json":
      return openapiPage(JSON.parse(read(path)));
    case "www/client/index.ts":
      return textBelowHeading(readFileSync(API_REFERENCE_FILE, "utf8"));
    default:
      return textBelowHeading(read(path));
  }
}

/**
 * Returns the chapters of the book.
 *
 * @returns {any[]} all chapters, including nested ones
 */
function chapters(items) {
  return items.flatMap(({ Chapter }) =>
    Chapter === undefined ? [] : [Chapter, ...chapters(Chapter.sub_items)],
  );
}

const chapterPath = ({ path }) => posix.join(CHAPTERS, path);

/** Returns the repository path of a document to which a chapter links. */
const linkedDocumentPath = (chapter, target) =>
  posix.join(posix.dirname(chapterPath(chapter)), target);

function renderChapter(chapter, shown) {
  const book = {
    chapter: chapter.path,
    shown,
    isFolder: (path) => statSync(join(ROOT, path)).isDirectory(),
  };
  const own = rewriteLinksForBook(
    withPictures(chapter.content, chapter.path),
    chapterPath(chapter),
    book,
  );
  const whole = own.replace(DOCUMENT_LINK_PATTERN, (_, target) => {
    const path = linkedDocumentPath(chapter, target);
    return rewriteLinksForBook(documentMarkdown(path), path, book);
  });
  return withFormulas(
    whole.replace(/^```(tsx|vue|svelte)$/gm, (_, name) => `\`\`\`${HIGHLIGHTER_LANGUAGES[name]}`),
  );
}

if (process.argv[2] !== "supports") {
  const [, book] = JSON.parse(await text(process.stdin));
  const all = chapters(book.items).filter(({ path }) => path !== null);
  const shown = new Map(
    all.flatMap((chapter) => {
      const [, target] = DOCUMENT_LINK_PATTERN.exec(chapter.content) ?? [];
      return target === undefined
        ? []
        : [[linkedDocumentPath(chapter, target), chapterPath(chapter)]];
    }),
  );
  // The list of chapters is in the book's sidebar.
  shown.set(`${CHAPTERS}/SUMMARY.md`, `${CHAPTERS}/index.md`);
  for (const chapter of all) {
    chapter.content = renderChapter(chapter, shown);
  }
  process.stdout.write(JSON.stringify(book));
}
