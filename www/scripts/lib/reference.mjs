// Makes the reference of the package's exports. It has every exported declaration as the compiler
// writes it, with its comments. Declarations without a comment are reported.
//
// TypeDoc is not used. It would bring a second version of TypeScript, and its pages would say no
// more than the declarations.

/** Pattern of an export list, `export { … }`, possibly from another file. */
const EXPORT_LIST_PATTERN = /^export (?:type )?\{([^}]*)\}(?: from "\.\/(.*)\.js")?;/gm;
const EXPORT_ALL_PATTERN = /^export \* from "\.\/(.*)\.js";/gm;
const DOC_COMMENT_PATTERN = String.raw`\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n`;
/**
 * Pattern of an exported declaration. It ends before the next line that is neither indented nor the
 * declaration's closing line.
 */
const DECLARATION_PATTERN = new RegExp(
  String.raw`^(${DOC_COMMENT_PATTERN})?export (?:declare )?(?:abstract )?(?:interface|class|function|const|type) (\w+)(?!: typeof )[\s\S]*?(?:;\n(?=[^\s}]|$)|\n\}\n)`,
  "gm",
);
/**
 * Pattern of a member of a declaration. Members are indented by one step. A comment before a member
 * is recognised by its last line.
 */
const MEMBER =
  /(\*\/\n)?^ {4}(?!\/?\*|#private|\}|constructor)(?:(?:readonly|static|abstract|get|set) )*(\w+)\??(.*)/gm;
const CODE_FENCE = "`".repeat(4);
/**
 * Pattern of a field's type that is a literal. The field then distinguishes kinds, so it needs no
 * comment.
 */
const LITERAL_TYPE_PATTERN = /^(?:: | = )"[^"]*";$/;

/**
 * Returns the names that a module exports.
 *
 * @param {string} file without its extension
 * @param {(file: string) => string} read returns its declarations
 * @returns {[string, string][]} names, each with the file that declares it
 */
function exportedNames(file, read) {
  const text = read(file);
  const beside = (path) => new URL(path, `file:///${file}`).pathname.slice(1);
  const all = [...text.matchAll(EXPORT_ALL_PATTERN)].flatMap(([, path = ""]) =>
    exportedNames(beside(path), read),
  );
  const listed = [...text.matchAll(EXPORT_LIST_PATTERN)].flatMap(([, names = "", path]) =>
    names
      .split(",")
      .map((name) => name.replace(/\btype /, "").trim())
      .filter((name) => name !== "")
      .map((name) => /** @type {[string, string]} */ ([name, path ? beside(path) : file])),
  );
  const own = [...text.matchAll(DECLARATION_PATTERN)].map(
    ([, , name = ""]) => /** @type {[string, string]} */ ([name, file]),
  );
  return [...all, ...listed, ...own];
}

/**
 * Returns the text of the reference, and the exports that lack a comment.
 *
 * @param {Readonly<Record<string, string>>} entries import names, by file
 * @param {(file: string) => string} read returns a file's declarations; files are without extension
 * @returns {{ text: string, lacking: string[] }}
 */
export function makeReference(entries, read) {
  const lacking = [];
  const told = new Set();
  const parts = ["# Reference\n\nWhat the package exports, with what there is to say of it.\n"];
  for (const [file, name] of Object.entries(entries)) {
    parts.push(`## \`${name}\`\n`);
    const found = exportedNames(file, read).filter(([symbol]) => !told.has(symbol));
    for (const [symbol, home] of found.sort()) {
      if (told.has(symbol)) {
        continue;
      }
      told.add(symbol);
      const declared = [...read(home).matchAll(DECLARATION_PATTERN)].filter(
        ([, , own]) => own === symbol,
      );
      const [first] = declared;
      if (first?.[1] === undefined) {
        lacking.push(`${home}: ${symbol}`);
      }
      const text = declared.map(([whole]) => whole).join("");
      const members = /^export [\w ]*(?:interface|class) /m.test(text) ? text.matchAll(MEMBER) : [];
      for (const [, doc, member, rest = ""] of members) {
        if (
          doc === undefined &&
          !LITERAL_TYPE_PATTERN.test(rest) &&
          !text.includes(`get ${member}()`)
        ) {
          lacking.push(`${home}: ${symbol}.${member}`);
        }
      }
      // Four backticks, because examples have fences of three.
      parts.push(`### ${symbol}\n\n${CODE_FENCE}ts\n${text.trim()}\n${CODE_FENCE}\n`);
    }
  }
  return { text: parts.join("\n"), lacking };
}
