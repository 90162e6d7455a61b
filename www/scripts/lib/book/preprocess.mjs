// mdBook's preprocessor of the book: what chapters show of the repository, links, formulas.
//
// A chapter has the line `{{document PATH}}` for a document of the repository, whose headings go
// a level down; `{{picture NAME "TEXT"}}` for a picture of a page, on both grounds; `{{openapi}}` and `{{typescript}}` for the references of the collector's requests
// and of the npm package.

import { readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { text } from "node:stream/consumers";
import { PACKAGE, ROOT } from "../paths.mjs";
import { SCALE } from "./crowds.mjs";
import { CHAPTERS, rebase } from "./links.mjs";
import { withFormulas } from "./math.mjs";
import { openapiPage } from "./openapi.mjs";

const DOCUMENT = /^\{\{document (\S+)\}\}$/m;

const PICTURE = /^\{\{picture (\S+) "(.*)"\}\}$/gm;

/** What the book's highlighter has in place of languages that it does not know. */
const DRAWN = { tsx: "ts", vue: "html", svelte: "html" };

const read = (path) => readFileSync(join(ROOT, path), "utf8");

/** A document's text below a chapter's own heading. */
function below(document) {
  const own = document.replace(/^# .*\n/, "");
  // A document that goes on in its own first level has it moved down, with all below.
  return /^# /m.test(own) ? own.replace(/^#+ /gm, (heading) => `#${heading}`) : own;
}

/** @returns {any[]} all chapters, those within others too */
function chapters(items) {
  return items.flatMap(({ Chapter }) =>
    Chapter === undefined ? [] : [Chapter, ...chapters(Chapter.sub_items)],
  );
}

/** Where a PNG states its width and height. */
function sizeOf(file) {
  const bytes = readFileSync(file);
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function picture(chapter, name, text) {
  const grounds = ["light", "dark"].map((ground) => {
    const file = `pictures/${name}-${ground}.png`;
    const { width, height } = sizeOf(join(ROOT, CHAPTERS, file));
    const size = `width="${width / SCALE}" height="${height / SCALE}"`;
    const source = posix.relative(posix.dirname(chapter), file);
    return `<img class="picture-${ground}" src="${source}" ${size} alt="${text}">`;
  });
  return `<p>${grounds.join("")}</p>`;
}

function filled(chapter, shown) {
  const book = {
    chapter: chapter.path,
    shown,
    isFolder: (path) => statSync(join(ROOT, path)).isDirectory(),
  };
  const own = rebase(chapter.content, `${CHAPTERS}/${chapter.path}`, book);
  const whole = own
    .replace(DOCUMENT, (_, path) => rebase(below(read(path)), path, book))
    .replace(PICTURE, (_, name, text) => picture(chapter.path, name, text))
    .replace(/^\{\{openapi\}\}$/m, () =>
      openapiPage(JSON.parse(read("server/src/http/openapi.json"))),
    )
    .replace(/^\{\{typescript\}\}$/m, () =>
      readFileSync(join(PACKAGE, "API.md"), "utf8").replace(/^# .*\n/, ""),
    );
  return withFormulas(
    whole.replace(/^```(tsx|vue|svelte)$/gm, (_, name) => `\`\`\`${DRAWN[name]}`),
  );
}

if (process.argv[2] !== "supports") {
  const [, book] = JSON.parse(await text(process.stdin));
  const all = chapters(book.items ?? book.sections).filter(({ path }) => path !== null);
  const shown = new Map(
    all.flatMap(({ content, path }) => {
      const [, document] = DOCUMENT.exec(content) ?? [];
      return document === undefined ? [] : [[document, `${CHAPTERS}/${path}`]];
    }),
  );
  // The list of chapters is in the book's sidebar.
  shown.set(`${CHAPTERS}/SUMMARY.md`, `${CHAPTERS}/index.md`);
  for (const chapter of all) {
    chapter.content = filled(chapter, shown);
  }
  process.stdout.write(JSON.stringify(book));
}
