// Finds imports between the files of a Rust crate. It reads tokens and does not know types.
//
// It sees:
//
// - `use` in any scope.
// - Complete paths (`crate::a::B`, `super::c::D`, `child::e()`).
// - Names that a module re-exports and uses.
// - Globs.
// - Paths in macros and in attributes of serde.
//
// A re-export is not an arrow. An import through a re-export leads to the file that defines the
// name, so a `mod.rs` may collect names of its children. A call of a macro has arrows to the
// macro's definition, and to those modules of the caller that the definition lists. If the
// definition contains `super::$module`, the listed modules are the caller's neighbours.
//
// It does not see methods and traits that are used without naming a file, nor other names that a
// macro constructs. Code under `#[cfg(test)]` and `#[cfg(doc)]` is ignored.

/** @typedef {{ text: string, line: number }} Token `text` of a string starts with a quote */
/**
 * @typedef {object} Arrow
 * @property {string} from
 * @property {string} to the file that defines the name
 * @property {string} [through] the file that the written path leads to: `to`, or one that re-exports the name
 * @property {number} line
 * @property {string} name
 */
/** @typedef {{ from: string[], glob?: boolean, exported: boolean, line: number }} Use */
/**
 * @typedef {object} Module
 * @property {string} key its path in the crate, joined by `::`; empty for the root
 * @property {string} file
 * @property {Set<string>} items
 * @property {Map<string, Use>} uses by the name that each introduces
 * @property {Use[]} globs
 * @property {{ path: string[], line: number, call: boolean }[]} mentions
 * @property {{ name: string, line: number }[]} calls of macros
 * @property {Map<string, Set<string>>} macros the words of each macro defined here
 * @property {boolean} neighbours whether its macros list modules next to the caller, as
 * `super::$module`
 */

const TOKEN = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*)`,
    String.raw`(?<block>\/\*)`,
    String.raw`(?<raw>b?r(?<hashes>#*)"[\s\S]*?"\k<hashes>)`,
    String.raw`(?<string>b?"(?:[^"\\]|\\[\s\S])*")`,
    String.raw`(?<char>b?'(?:[^'\\\n]|\\[^\n]{1,9}?)')`,
    String.raw`(?<lifetime>'\w+)`,
    String.raw`(?<word>\$?(?:r#)?[A-Za-z_]\w*)`,
    String.raw`(?<number>\d[\w.]*?(?=\.\.|[^\w.]|$))`,
    "(?<path>::)",
    String.raw`(?<other>\S)`,
  ].join("|"),
  "g",
);

/**
 * Splits Rust source into tokens. Comments are left out.
 *
 * @param {string} source
 * @returns {Token[]}
 */
export function tokenize(source) {
  const found = [];
  let line = 1;
  let seen = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(source); match !== null; match = TOKEN.exec(source)) {
    for (; seen < match.index; seen += 1) {
      if (source[seen] === "\n") {
        line += 1;
      }
    }
    const { comment, block, raw, string, char, lifetime, number } = match.groups ?? {};
    if (block !== undefined) {
      TOKEN.lastIndex = endOfBlockComment(source, match.index);
    } else if (raw !== undefined || string !== undefined) {
      found.push({ text: match[0].slice(match[0].indexOf('"')).replace(/#+$/, ""), line });
    } else if (![comment, char, lifetime, number].some((group) => group !== undefined)) {
      found.push({ text: match[0].replace(/^\$crate$/, "crate").replace(/^r#/, ""), line });
    }
  }
  return found;
}

function endOfBlockComment(source, start) {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let match = mark.exec(source); match !== null; match = mark.exec(source)) {
    depth += match[0] === "/*" ? 1 : -1;
    if (depth === 0) {
      return mark.lastIndex;
    }
  }
  return source.length;
}

const BRACKET_PAIRS = { "{": "}", "(": ")", "[": "]" };
const ITEM_KEYWORDS = new Set([
  "struct",
  "enum",
  "union",
  "trait",
  "type",
  "const",
  "static",
  "fn",
]);
const SERDE_PATH_ATTRIBUTE =
  /^(with|default|serialize_with|deserialize_with|skip_serializing_if|from|try_from|into|remote)$/;
const isWord = (text) => text !== undefined && /^[A-Za-z_]\w*$/.test(text);

const textAt = (list, at) => list[at]?.text ?? "";

/** Returns the position of the token after the bracket that closes the bracket at `start`. */
export function skipBrackets(list, start) {
  let depth = 0;
  for (let at = start; at < list.length; at += 1) {
    const text = textAt(list, at);
    if (text in BRACKET_PAIRS) {
      depth += 1;
    } else if (text === "}" || text === ")" || text === "]") {
      depth -= 1;
      if (depth === 0) {
        return at + 1;
      }
    }
  }
  return list.length;
}

/** Returns the position of the token after the item, field or match arm at `start`. */
export function skipItem(list, start) {
  const statement = new Set(["use", "const", "static", "type", "let"]);
  let at = start;
  while (textAt(list, at) === "#") {
    at = skipBrackets(list, at + 1);
  }
  let ends = ";}";
  for (; at < list.length; ) {
    const text = textAt(list, at);
    if (statement.has(text) && textAt(list, at + 1) !== "fn") {
      ends = ";";
    }
    if (text === ";" || text === ",") {
      return at + 1;
    }
    if (text === "}" || text === ")") {
      return at;
    }
    if (text in BRACKET_PAIRS) {
      at = skipBrackets(list, at);
      if (text === "{" && ends === ";}") {
        return at;
      }
    } else {
      at += 1;
    }
  }
  return at;
}

/** Returns whether an attribute compiles its item only for tests or documentation. */
function isTestOrDocOnly(attribute) {
  const words = attribute.map(({ text }) => text);
  return (
    words[0] === "cfg" &&
    !words.includes("not") &&
    (words.includes("test") || words.includes("doc"))
  );
}

/**
 * Returns the names that one `use` brings into scope, as pairs `[name, path]`. A glob has the name
 * `*`.
 *
 * @param {Token[]} list
 * @param {number} start position after `use`
 * @returns {{ end: number, names: [string, string[]][] }}
 */
function parseUseTree(list, start) {
  /** @type {[string, string[]][]} */
  const names = [];
  const tree = (at, prefix) => {
    let path = prefix;
    while (at < list.length) {
      const text = textAt(list, at);
      if (text === "{") {
        at += 1;
        while (textAt(list, at) !== "}") {
          at = textAt(list, at) === "," ? at + 1 : tree(at, path);
        }
        return at + 1;
      }
      if (text === "*") {
        names.push(["*", path]);
        return at + 1;
      }
      if (isWord(text)) {
        path = text === "self" && path.length > 0 ? path : [...path, text];
        at += 1;
      }
      if (textAt(list, at) === "::") {
        at += 1;
        continue;
      }
      let name = path.at(-1) ?? "";
      if (textAt(list, at) === "as") {
        name = textAt(list, at + 1);
        at += 2;
      }
      names.push([name, path]);
      return at;
    }
    return at;
  };
  return { end: tree(start, []), names };
}

/**
 * Returns the module with this key, and creates it if it is missing.
 *
 * @param {Map<string, Module>} modules
 * @param {string} key
 * @param {string} file
 * @returns {Module}
 */
function getOrCreateModule(modules, key, file) {
  const module = modules.get(key) ?? {
    key,
    file,
    items: new Set(),
    uses: new Map(),
    globs: [],
    mentions: [],
    calls: [],
    macros: new Map(),
    neighbours: false,
  };
  modules.set(key, module);
  return module;
}

const childKey = (key, name) => (key === "" ? name : `${key}::${name}`);

/** Reads the tokens of a file into its module, and into the modules that the file contains. */
function readFile(modules, file, key, source) {
  const list = tokenize(source);
  const outer = getOrCreateModule(modules, key, file);
  const stack = [{ module: outer, until: list.length }];
  // End of the body of the current item. Names inside a body do not belong to the module.
  let body = 0;
  for (let at = 0; at < list.length; ) {
    while (stack.length > 1 && at >= (stack[0]?.until ?? 0)) {
      stack.shift();
    }
    const module = stack[0]?.module ?? outer;
    const { text, line } = list[at] ?? { text: "", line: 0 };
    const before = textAt(list, at - 1);
    if (text === "#" && textAt(list, at + 1) === "[") {
      const end = skipBrackets(list, at + 1);
      const attribute = list.slice(at + 2, end - 1);
      readSerdePaths(module, attribute);
      at = isTestOrDocOnly(attribute) ? skipItem(list, end) : end;
    } else if (text === "use" && before !== "<") {
      const { end, names } = parseUseTree(list, at + 1);
      const exported = before === "pub" || before === ")";
      for (const [name, path] of names) {
        const use = { from: path, exported, line };
        if (name === "*") {
          module.globs.push(use);
        } else {
          module.uses.set(name, use);
        }
      }
      at = end;
    } else if (text === "mod" && textAt(list, at + 2) === "{") {
      const inner = childKey(module.key, textAt(list, at + 1));
      stack.unshift({
        module: getOrCreateModule(modules, inner, file),
        until: skipBrackets(list, at + 2),
      });
      at += 3;
    } else if (text === "mod" && textAt(list, at + 2) === ";") {
      at += 3;
    } else if (text === "macro_rules" && textAt(list, at + 1) === "!") {
      const words = list.slice(at + 3, skipBrackets(list, at + 3)).map(({ text }) => text);
      module.items.add(textAt(list, at + 2));
      module.macros.set(textAt(list, at + 2), new Set(words.filter(isWord)));
      at += 3;
    } else if (
      ITEM_KEYWORDS.has(text) &&
      isWord(textAt(list, at + 1)) &&
      !ITEM_KEYWORDS.has(textAt(list, at + 1))
    ) {
      if (at >= body) {
        module.items.add(textAt(list, at + 1));
      }
      at += 2;
    } else if (text === "{" && at >= body) {
      body = skipBrackets(list, at);
      at += 1;
    } else if (isWord(text) && before !== ".") {
      const path = [text];
      for (at += 1; textAt(list, at) === "::" && isWord(textAt(list, at + 1)); at += 2) {
        path.push(textAt(list, at + 1));
      }
      const next = textAt(list, at);
      module.neighbours ||=
        path.join() === "super" && next === "::" && textAt(list, at + 1) === "$module";
      if (next === "!" && textAt(list, at + 1) in BRACKET_PAIRS) {
        module.calls.push({ name: path.at(-1) ?? "", line });
      } else {
        module.mentions.push({ path, line, call: next === "(" });
      }
    } else {
      at += 1;
    }
  }
}

function readSerdePaths(module, attribute) {
  if (attribute[0]?.text !== "serde") {
    return;
  }
  attribute.forEach(({ text, line }, at) => {
    const value = textAt(attribute, at + 2);
    if (SERDE_PATH_ATTRIBUTE.test(text) && value.startsWith('"')) {
      const path = value.slice(1, -1).replace(/<.*/, "").split("::");
      module.mentions.push({ path, line, call: true });
    }
  });
}

/**
 * Resolves a path. Returns the file that defines the last name that can be resolved, or the module
 * to which the path leads. Returns undefined if the path leaves the crate.
 *
 * @param {Map<string, Module>} modules
 * @param {Module} module
 * @param {readonly string[]} path
 * @param {Set<Use>} [visited]
 * @returns {{ file: string } | { module: Module } | undefined}
 */
function resolvePath(modules, module, path, visited = new Set()) {
  let [here, rest] = [module, path];
  if (path[0] === "crate") {
    [here, rest] = [modules.get("") ?? module, path.slice(1)];
  }
  while (rest[0] === "self" || rest[0] === "super") {
    if (rest[0] === "super") {
      here = modules.get(here.key.split("::").slice(0, -1).join("::")) ?? here;
    }
    rest = rest.slice(1);
  }
  const inside = rest.length < path.length;
  for (let first = !inside; rest.length > 0; first = false) {
    const [name = "", ...after] = rest;
    const child = modules.get(childKey(here.key, name));
    if (child !== undefined) {
      [here, rest] = [child, after];
      continue;
    }
    if (here.items.has(name)) {
      return { file: here.file };
    }
    const use = here.uses.get(name);
    if (use !== undefined && !visited.has(use)) {
      visited.add(use);
      return resolvePath(modules, here, [...use.from, ...after], visited);
    }
    for (const glob of here.globs) {
      if (!visited.has(glob)) {
        visited.add(glob);
        const target = resolvePath(modules, here, glob.from, visited);
        const found =
          target !== undefined && "module" in target && target.module !== here
            ? resolvePath(modules, target.module, ["self", ...rest], visited)
            : undefined;
        if (found !== undefined && "file" in found) {
          return found;
        }
      }
    }
    // A name that is not found is defined by a macro or belongs to another crate.
    return first || use !== undefined ? undefined : { file: here.file };
  }
  return { module: here };
}

/**
 * Returns the file of the last module in a path. The search ends at the first name that is not a
 * module.
 *
 * @param {Map<string, Module>} modules
 * @param {Module} module
 * @param {readonly string[]} path
 */
function lastModuleFile(modules, module, path) {
  let here = module;
  for (const [at, name] of path.entries()) {
    const key = here.key.split("::").slice(0, -1).join("::");
    const next =
      name === "crate" && at === 0
        ? modules.get("")
        : name === "super"
          ? modules.get(key)
          : modules.get(childKey(here.key, name));
    if (next === undefined && name !== "self") {
      break;
    }
    here = next ?? here;
  }
  return here.file;
}

/** Returns the names in the module path of a file. The list is empty for the root of the crate. */
function modulePath(root, file) {
  const parts = file.slice(root.length + 1, -".rs".length).split("/");
  const last = parts.at(-1) ?? "";
  if (last === "mod" || (parts.length === 1 && last === "lib")) {
    parts.pop();
  }
  return parts;
}

function readCrate(root, sources) {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  getOrCreateModule(modules, "", `${root}/lib.rs`);
  for (const [file, source] of sources) {
    readFile(modules, file, modulePath(root, file).join("::"), source);
  }
  return modules;
}

/**
 * Returns the macros that a crate defines, each with its file and the words of its definition.
 *
 * @param {string} root the crate's `src`
 * @param {ReadonlyMap<string, string>} sources each file's text
 * @returns {Map<string, { file: string, words: Set<string> }>}
 */
export const rustMacros = (root, sources) => macrosDefinedIn(readCrate(root, sources));

/** @param {Map<string, Module>} modules */
function macrosDefinedIn(modules) {
  /** @type {Map<string, { file: string, words: Set<string> }>} */
  const defined = new Map();
  for (const { file, macros } of modules.values()) {
    for (const [name, words] of macros) {
      defined.set(name, { file, words });
    }
  }
  return defined;
}

/**
 * Returns the arrows (imports) between the files of a crate.
 *
 * @param {string} root the crate's `src`
 * @param {ReadonlyMap<string, string>} sources each file's text
 * @param {ReturnType<typeof rustMacros>} [macros] of crates that it depends on
 * @returns {Arrow[]}
 */
export function findRustImports(root, sources, macros = new Map()) {
  const modules = readCrate(root, sources);
  const own = macrosDefinedIn(modules);
  /** @type {Arrow[]} */
  const arrows = [];
  const draw = (module, to, line, path) => {
    if (to !== module.file) {
      const through = lastModuleFile(modules, module, path);
      const offered = through === module.file ? to : through;
      arrows.push({ from: module.file, to, through: offered, line, name: path.join("::") });
    }
  };
  for (const module of modules.values()) {
    const point = (path, line) => {
      // Exported macros belong to the crate's root, regardless of the file that defines them.
      const macro = path[0] === "crate" && path.length === 2 ? own.get(path[1]) : undefined;
      const target = macro ?? resolvePath(modules, module, path);
      if (target !== undefined && "file" in target) {
        draw(module, target.file, line, path);
      }
    };
    for (const { from, exported, line } of module.uses.values()) {
      if (!exported) {
        point(from, line);
      }
    }
    for (const { from, exported, line } of module.globs) {
      const target = resolvePath(modules, module, from);
      if (!exported && target !== undefined) {
        draw(module, "file" in target ? target.file : target.module.file, line, [...from, "*"]);
      }
    }
    const listed = module.neighbours ? module.key.split("::").slice(0, -1).join("::") : module.key;
    for (const { name, line } of module.calls) {
      const { file, words } = own.get(name) ?? macros.get(name) ?? {};
      if (file !== undefined && own.has(name)) {
        draw(module, file, line, [`${name}!`]);
      }
      for (const word of words ?? []) {
        const child = modules.get(childKey(listed, word));
        if (child !== undefined) {
          draw(module, child.file, line, [`${name}!`, word]);
        }
      }
    }
    for (const { path, line, call } of module.mentions) {
      const [first = ""] = path;
      const use = module.uses.get(first);
      const single = path.length === 1;
      if (["crate", "self", "super"].includes(first) ? !single : !single || use?.exported) {
        // A single lower-case word may be a variable. A function is recognised by its call.
        if (!single || call || /^[A-Z]/.test(first)) {
          point(path, line);
        }
      }
    }
  }
  return arrows;
}
