// Measures the wording of documentation comments in Rust and TypeScript, and of prose in Markdown.
// Each figure counts passages that readers are likely to read twice.

const BAD_OPENING_PATTERN = new RegExp(
  "^(?:What|How|Of|Those|Whether|Where|As|Whoever|Who|By|That|With|From|To|In|For|Beside|Above|" +
    "Below|Held|Told|Asked|Made|Kept|Known|Taken|Given|Which|Whom|Both|All|None|Nothing|Nobody|" +
    "Everything|Everybody|Once|Not|No|At|On|Until|After|Before|Or|And|Else|Without|Behind|" +
    "Instead|It|Its|Their|So many|So much)\\b|^The (?:same|other|others|one|ones|own)\\b",
);
const SINGLE_SYMBOL_PATTERN = /^[`$]*[A-Za-zα-ωΑ-Ω][₀-₉0-9'_]{0,2}[`$]*\.?$/;
const DIALECT = [
  ...["so many", "so much", "told", "tells?", "whoever", "whatever", "beside", "theirs?", "ours"],
  ...["nobody", "everybody", "somebody", "gives? away", "anew", "whom", "others", "what is"],
  ...["that there is", "all the same", "by itself", "of its own", "stands", "said", "likeliest"],
  ...["goes on", "of theirs"],
];
const PHRASES = [
  ...DIALECT,
  ...["holds? of", "asked for", "what (?:has|it|a|the)", "as many as", "at the worst over"],
  ...["of which", "in a terminal of its own", "the most that", "is account of", "looked at"],
];
const SUBORDINATE = new RegExp(
  "\\b(?:that|which|who|whose|whom|what|whatever|whoever|where|wherever|when|while|whether|if|" +
    "unless|as|because|since|until|although|though|so that)\\b",
  "gi",
);
const INVERTED =
  /^(?:What|Who|Whoever|Whatever|Whose|Where|That|Of)\b(?! (?:is|are|does|do|can|should|if)\b.*\?)/;

/**
 * Makes a regular expression for each phrase, which matches whole words only. The phrases are
 * counted separately, because one may contain another.
 */
const wholeWordPatterns = (patterns, flags) =>
  patterns.map((pattern) => new RegExp(`\\b(?:${pattern})\\b`, flags));
const DIALECT_WORDS = wholeWordPatterns(DIALECT, "g");
const DIALECT_PHRASES = wholeWordPatterns(PHRASES, "gi");

const LONG_SENTENCE = 25;
const MAX_PARAGRAPH_WORDS = 90;
const NESTED_CLAUSE_COUNT = 3;

/**
 * @typedef {{ line: number, text: string }} Found
 * @typedef {object} Figure places that were found among a number of units
 * @property {Found[]} found
 * @property {number} of
 */

const count = (patterns, text) =>
  patterns.reduce((sum, pattern) => sum + (text.match(pattern)?.length ?? 0), 0);
const lineAt = (text, at) => text.slice(0, at).split("\n").length;
const splitWords = (text) => text.split(/\s+/).filter((word) => word !== "");

/**
 * Returns the first paragraph of each block of `///` or `//!` lines.
 *
 * @param {string} source
 * @returns {Found[]}
 */
export function rustDocSummaries(source) {
  const lines = source.split("\n");
  const docOf = (at) => lines[at]?.match(/^\s*\/\/[/!](?!\/)\s?(.*)/)?.[1]?.trim();
  const blocks = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (docOf(at) === undefined) {
      continue;
    }
    const line = at + 1;
    const block = [];
    for (let text = docOf(at); text !== undefined; text = docOf(at)) {
      block.push(text);
      at += 1;
    }
    const end = block.indexOf("");
    blocks.push({ line, text: block.slice(0, end < 0 ? block.length : end).join(" ") });
  }
  return blocks;
}

/**
 * Returns the first paragraph of each documentation comment in TypeScript or JavaScript, without
 * tags.
 *
 * @param {string} source
 * @returns {Found[]}
 */
export function scriptDocSummaries(source) {
  const blocks = [];
  for (const { 1: block = "", index } of source.matchAll(/\/\*\*(.*?)\*\//gs)) {
    const paragraph = [];
    for (const written of block.split("\n")) {
      const text = written.replace(/^\s*\*?\s?/, "").trim();
      if ((text === "" && paragraph.length > 0) || text.startsWith("@")) {
        break;
      }
      if (text !== "") {
        paragraph.push(text);
      }
    }
    if (paragraph.length > 0) {
      blocks.push({ line: lineAt(source, index), text: paragraph.join(" ") });
    }
  }
  return blocks;
}

/**
 * Measures the wording of the comments in a file.
 *
 * @param {string} file
 * @param {string} source of Rust, TypeScript or JavaScript
 * @returns {Record<"openers" | "symbols" | "dialect-words", Figure>}
 */
export function commentFigures(file, source) {
  const blocks = file.endsWith(".rs") ? rustDocSummaries(source) : scriptDocSummaries(source);
  const comments = [...source.matchAll(/^\s*(?:\/\/[/!]?|\*)\s?(.*)$/gm)].map(
    ({ 1: text = "", 0: match, index }) => ({
      line: lineAt(source, index + match.search(/\S/)),
      text: text.toLowerCase(),
    }),
  );
  const all = comments.map(({ text }) => text).join(" ");
  return {
    openers: {
      found: blocks.filter(({ text }) => BAD_OPENING_PATTERN.test(text)),
      of: blocks.length,
    },
    symbols: {
      found: blocks.filter(({ text }) => SINGLE_SYMBOL_PATTERN.test(text)),
      of: blocks.length,
    },
    "dialect-words": {
      found: matchPlaces(comments, all, DIALECT_WORDS),
      of: all.match(/[a-z']+/g)?.length ?? 0,
    },
  };
}

/**
 * Returns a place for each occurrence of the patterns. Occurrences that span several parts get the
 * line of the last part.
 */
function matchPlaces(parts, all, patterns) {
  const found = parts.flatMap((part) => Array(count(patterns, part.text)).fill(part));
  const across = count(patterns, all) - found.length;
  const { line = 1, text = "" } = parts.at(-1) ?? {};
  return [...found, ...Array(Math.max(0, across)).fill({ line, text: `… ${text}` })];
}

function markdownToPlainText(text) {
  return text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\[[^\]]*\]/g, "$1")
    .replace(/<[^>]+>/g, "")
    .replace(/\$`.*?`\$/g, "x")
    .replace(/`([^`]*)`/g, "$1")
    .replace(/[*_]{2,}/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Placeholder for a removed comment or element. It keeps the line from counting as empty. */
const REMOVED_PLACEHOLDER = "\u0001";

/** Removes code, comments, and elements that contain no prose. Line ends are kept. */
const onlyProse = (text) =>
  text
    .replace(/^(`{3,}|~{3,}).*?^\1\s*$/gms, (block) => block.replace(/[^\n]/g, ""))
    .replace(/<!--.*?-->|<(script|style|details|picture).*?<\/\1>/gs, (block) =>
      block.replace(/[^\n]+/g, REMOVED_PLACEHOLDER),
    );

/**
 * Returns the paragraphs and list items of a Markdown text, without headings, tables and code.
 *
 * @param {string} markdown
 * @returns {Found[]}
 */
export function paragraphs(markdown) {
  const found = [];
  /** @type {string[]} */
  let open = [];
  let begin = 1;
  const close = () => {
    if (open.length > 0) {
      found.push({
        line: begin,
        text: markdownToPlainText(open.join(" ").replaceAll(REMOVED_PLACEHOLDER, "")),
      });
    }
    open = [];
  };
  onlyProse(markdown)
    .split("\n")
    .forEach((line, at) => {
      const [, item] = line.match(/^\s*(?:[-*+]|\d+\.)\s+(.*)/) ?? [];
      const text = item ?? line.trim().replace(/^[> ]+/, "");
      const stops = line.trim() === "" || /^\s*[|#]/.test(line);
      if (stops || item !== undefined) {
        close();
      }
      if (!stops) {
        begin = open.length === 0 ? at + 1 : begin;
        open.push(text);
      }
    });
  close();
  return found;
}

/**
 * Returns the sentences of a paragraph that have at least four words.
 *
 * @param {string} paragraph
 * @returns {string[]}
 */
export function sentences(paragraph) {
  return paragraph
    .replace(/\b(?:e\.g|i\.e|etc|vs|cf|et al|St|Fig|No)\./g, (text) =>
      text.replaceAll(".", "\u2024"),
    )
    .split(/(?<=[.!?])["”’)]*\s+(?=[A-Z"“‘(`0-9ε])/)
    .filter((text) => (text.match(/[A-Za-z']+/g)?.length ?? 0) >= 4)
    .map((text) => text.replaceAll("\u2024", ".").trim());
}

/**
 * Measures the wording of a Markdown file.
 *
 * @param {string} markdown
 * @returns {Record<"long-sentences" | "nested-sentences" | "inverted-sentences" | "walls" | "dialect-phrases", Figure>}
 */
export function proseFigures(markdown) {
  const blocks = paragraphs(markdown);
  const all = blocks.flatMap(({ line, text }) => sentences(text).map((text) => ({ line, text })));
  const those = (test) => ({ found: all.filter(({ text }) => test(text)), of: all.length });
  return {
    "long-sentences": those((text) => splitWords(text).length > LONG_SENTENCE),
    "nested-sentences": those((text) => count([SUBORDINATE], text) >= NESTED_CLAUSE_COUNT),
    "inverted-sentences": those((text) => INVERTED.test(text)),
    walls: {
      found: blocks.filter(({ text }) => splitWords(text).length > MAX_PARAGRAPH_WORDS),
      of: blocks.length,
    },
    "dialect-phrases": {
      found: blocks.flatMap((block) => Array(count(DIALECT_PHRASES, block.text)).fill(block)),
      of: blocks.reduce((sum, { text }) => sum + splitWords(text).length, 0),
    },
  };
}

const TESTS =
  /(^|\/)(tests?|benches|toy|vectors|reference)(\/|\.rs$)|\.test\.|\/examples\/|node_modules/;
/**
 * Pattern of Markdown files that are not measured: lists, generated pages, licences, and the text
 * of past releases.
 */
const UNMEASURED_MARKDOWN_PATTERN =
  /(^|\/)(CHANGELOG|LICENSE|cli)\b|tests\/|node_modules|reference\/(cli|changelog|typescript)\.md$/;

/**
 * Returns the figures of the wording of one file, or undefined if the file is not measured.
 *
 * @param {string} file
 * @param {string} text
 * @returns {Record<string, Figure> | undefined}
 */
export function fileWordingFigures(file, text) {
  if (/\.(rs|ts|mjs)$/.test(file)) {
    return TESTS.test(file) ? undefined : commentFigures(file, text);
  }
  return file.endsWith(".md") && !UNMEASURED_MARKDOWN_PATTERN.test(file)
    ? proseFigures(text)
    : undefined;
}
