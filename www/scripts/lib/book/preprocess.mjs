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
import { CHAPTERS_DIR, rewriteLinksForBook } from "./links.mjs";
import { withFormulas } from "./math.mjs";
import { openapiPage } from "./openapi.mjs";
import { withLightAndDarkPictures } from "./pictures.mjs";

const DOCUMENT_INCLUDE_PATTERN = /^\[[^\]]*\]\((\S+) "all of it"\)$/m;

/** Languages that the book's highlighter does not know, each with the language that replaces it. */
const HIGHLIGHT_LANGUAGE_ALIASES = { tsx: "ts", vue: "html", svelte: "html" };

const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** Returns the text of a document, changed so that it can follow the heading of a chapter. */
function bodyWithHeadingsDemoted(document) {
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
      return bodyWithHeadingsDemoted(readFileSync(API_REFERENCE_FILE, "utf8"));
    default:
      return bodyWithHeadingsDemoted(read(path));
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

const chapterRepositoryPath = ({ path }) => posix.join(CHAPTERS_DIR, path);

/** Returns the repository path of a document to which a chapter links. */
const linkedDocumentPath = (chapter, target) =>
  posix.join(posix.dirname(chapterRepositoryPath(chapter)), target);

function renderChapter(chapter, shown) {
  const book = {
    chapter: chapter.path,
    shown,
    isFolder: (path) => statSync(join(ROOT, path)).isDirectory(),
  };
  const own = rewriteLinksForBook(
    withLightAndDarkPictures(chapter.content, chapter.path),
    chapterRepositoryPath(chapter),
    book,
  );
  const whole = own.replace(DOCUMENT_INCLUDE_PATTERN, (_, target) => {
    const path = linkedDocumentPath(chapter, target);
    return rewriteLinksForBook(documentMarkdown(path), path, book);
  });
  return withFormulas(
    whole.replace(
      /^```(tsx|vue|svelte)$/gm,
      (_, name) => `\`\`\`${HIGHLIGHT_LANGUAGE_ALIASES[name]}`,
    ),
  );
}

if (process.argv[2] !== "supports") {
  const [, book] = JSON.parse(await text(process.stdin));
  const all = chapters(book.items).filter(({ path }) => path !== null);
  const shown = new Map(
    all.flatMap((chapter) => {
      const [, target] = DOCUMENT_INCLUDE_PATTERN.exec(chapter.content) ?? [];
      return target === undefined
        ? []
        : [[linkedDocumentPath(chapter, target), chapterRepositoryPath(chapter)]];
    }),
  );
  // The list of chapters is in the book's sidebar.
  shown.set(`${CHAPTERS_DIR}/SUMMARY.md`, `${CHAPTERS_DIR}/index.md`);
  for (const chapter of all) {
    chapter.content = renderChapter(chapter, shown);
  }
  process.stdout.write(JSON.stringify(book));
}
