// mdBook's preprocessor of the book: what chapters show of the repository, links, formulas.
//
// A link that is a paragraph of its own, with the title "all of it", leads to the document in the
// repository, and is the whole document in the book: its headings go a level down. Of the
// collector's description and of the package's entry it is the reference.

import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { text } from "node:stream/consumers";
import { REFERENCE, ROOT } from "../paths.mjs";
import { CHAPTERS, rebase } from "./links.mjs";
import { withFormulas } from "./math.mjs";
import { openapiPage } from "./openapi.mjs";
import { withPictures } from "./pictures.mjs";

const DOCUMENT = /^\[[^\]]*\]\((\S+) "all of it"\)$/m;

/** What the book's highlighter has in place of languages that it does not know. */
const DRAWN = { tsx: "ts", vue: "html", svelte: "html" };

const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** A document's text below a chapter's own heading. */
function below(document) {
  const own = document.replace(/^# .*\n/, "");
  // A document that goes on in its own first level has it moved down, with all below.
  return /^# /m.test(own) ? own.replace(/^#+ /gm, (heading) => `#${heading}`) : own;
}

/** A document, in Markdown. */
function written(path) {
  switch (path) {
    case "server/src/http/openapi.json":
      return openapiPage(JSON.parse(read(path)));
    case "www/client/index.ts":
      return below(readFileSync(REFERENCE, "utf8"));
    default:
      return below(read(path));
  }
}

/** @returns {any[]} all chapters, those within others too */
function chapters(items) {
  return items.flatMap(({ Chapter }) =>
    Chapter === undefined ? [] : [Chapter, ...chapters(Chapter.sub_items)],
  );
}

const home = ({ path }) => posix.join(CHAPTERS, path);

/** The path of a document that a chapter links to. */
const document = (chapter, target) => posix.join(posix.dirname(home(chapter)), target);

function filled(chapter, shown) {
  const book = {
    chapter: chapter.path,
    shown,
    isFolder: (path) => statSync(join(ROOT, path)).isDirectory(),
  };
  const own = rebase(withPictures(chapter.content, chapter.path), home(chapter), book);
  const whole = own.replace(DOCUMENT, (_, target) => {
    const path = document(chapter, target);
    return rebase(written(path), path, book);
  });
  return withFormulas(
    whole.replace(/^```(tsx|vue|svelte)$/gm, (_, name) => `\`\`\`${DRAWN[name]}`),
  );
}

if (process.argv[2] !== "supports") {
  const [, book] = JSON.parse(await text(process.stdin));
  const all = chapters(book.items).filter(({ path }) => path !== null);
  const shown = new Map(
    all.flatMap((chapter) => {
      const [, target] = DOCUMENT.exec(chapter.content) ?? [];
      return target === undefined ? [] : [[document(chapter, target), home(chapter)]];
    }),
  );
  // The list of chapters is in the book's sidebar.
  shown.set(`${CHAPTERS}/SUMMARY.md`, `${CHAPTERS}/index.md`);
  for (const chapter of all) {
    chapter.content = filled(chapter, shown);
  }
  process.stdout.write(JSON.stringify(book));
}
