// The reference of the package's interface: every exported declaration as the compiler
// writes it, with its comments, and complaints about what has none.
//
// A generator of such pages (TypeDoc) would bring another TypeScript than the one that
// compiles the package, for pages that say no more than the declarations do.

/** Names that are exported from a list, perhaps of another file. */
const LIST = /^export (?:type )?\{([^}]*)\}(?: from "\.\/(.*)\.js")?;/gm;
const ALL = /^export \* from "\.\/(.*)\.js";/gm;
const DOC = String.raw`\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n`;
/** A declaration, which ends where the next line begins that is neither indented nor its own end. */
const DECLARED = new RegExp(
  String.raw`^(${DOC})?export (?:declare )?(?:abstract )?(?:interface|class|function|const|type) (\w+)(?!: typeof )[\s\S]*?(?:;\n(?=[^\s}]|$)|\n\}\n)`,
  "gm",
);
/** A member, of an indentation by one step, and its comment. */
const MEMBER =
  /(\*\/\n)?^ {4}(?!\/?\*|#private|\}|constructor)(?:(?:readonly|static|abstract|get|set) )*(\w+)\??(.*)/gm;
const FENCE = "`".repeat(4);
/** What tells kinds apart says it itself. */
const LITERAL = /^(?:: | = )"[^"]*";$/;

/**
 * What a module exports.
 *
 * @param {string} file without its extension
 * @param {(file: string) => string} read its declarations
 * @returns {[string, string][]} names, with the file that declares each
 */
function exported(file, read) {
  const text = read(file);
  const beside = (path) => new URL(path, `file:///${file}`).pathname.slice(1);
  const all = [...text.matchAll(ALL)].flatMap(([, path = ""]) => exported(beside(path), read));
  const listed = [...text.matchAll(LIST)].flatMap(([, names = "", path]) =>
    names
      .split(",")
      .map((name) => name.replace(/\btype /, "").trim())
      .filter((name) => name !== "")
      .map((name) => /** @type {[string, string]} */ ([name, path ? beside(path) : file])),
  );
  const own = [...text.matchAll(DECLARED)].map(
    ([, , name = ""]) => /** @type {[string, string]} */ ([name, file]),
  );
  return [...all, ...listed, ...own];
}

/**
 * @param {Readonly<Record<string, string>>} entries what each is imported as, by its file
 * @param {(file: string) => string} read declarations by file, both without extension
 * @returns {{ text: string, lacking: string[] }}
 */
export function reference(entries, read) {
  const lacking = [];
  const told = new Set();
  const parts = ["# Reference\n\nWhat the package exports, with what there is to say of it.\n"];
  for (const [file, name] of Object.entries(entries)) {
    parts.push(`## \`${name}\`\n`);
    const found = exported(file, read).filter(([symbol]) => !told.has(symbol));
    for (const [symbol, home] of found.sort()) {
      if (told.has(symbol)) {
        continue;
      }
      told.add(symbol);
      const declared = [...read(home).matchAll(DECLARED)].filter(([, , own]) => own === symbol);
      const [first] = declared;
      if (first?.[1] === undefined) {
        lacking.push(`${home}: ${symbol}`);
      }
      const text = declared.map(([whole]) => whole).join("");
      const members = /^export [\w ]*(?:interface|class) /m.test(text) ? text.matchAll(MEMBER) : [];
      for (const [, doc, member, rest = ""] of members) {
        if (doc === undefined && !LITERAL.test(rest) && !text.includes(`get ${member}()`)) {
          lacking.push(`${home}: ${symbol}.${member}`);
        }
      }
      // Four: examples have fences of three.
      parts.push(`### ${symbol}\n\n${FENCE}ts\n${text.trim()}\n${FENCE}\n`);
    }
  }
  return { text: parts.join("\n"), lacking };
}
