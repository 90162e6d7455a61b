// Changes to the JavaScript that wasm-bindgen generates (glue), before it is bundled.

import { ExplainedError } from "./run.mjs";

/**
 * Replaces a text that must occur exactly once.
 *
 * @param {string} text
 * @param {string} from
 * @param {string} to
 */
export function replaceOnce(text, from, to) {
  const parts = text.split(from);
  if (parts.length !== 2) {
    throw new ExplainedError(`expected once, found ${parts.length - 1} times: ${from}`);
  }
  return parts.join(to);
}

/** Pattern of the text decoder in the glue. Only the message of one exception needs it. */
const DECODER = /let cachedTextDecoder = [\s\S]*?\nfunction decodeText\(bytes\) \{[\s\S]*?\n\}\n/;

/**
 * Returns the pattern of the glue's FinalizationRegistry, which frees unreachable objects of a
 * class.
 */
const finalizationRegistryPattern = (made) =>
  new RegExp(`const ${made}Finalization = ([\\s\\S]*?\\n\\}\\));\\n`);

/** Returns code that creates the FinalizationRegistry only when it is first needed. */
const lazyRegistry = (made, registry) => `let finalization;
const ${made}Finalization = {
    register(...given) {
        finalization ??= ${registry};
        finalization.register(...given);
    },
    unregister: (token) => finalization.unregister(token),
};
`;

/** Pattern of functions in the glue that cache a view of the module's memory. */
const CACHED_VIEW =
  /let (cached\w+) = null;\n(function \w+\(\) \{\n) +if \(\1 .*\n +\1 = (.*;)\n +\}\n +return \1;\n/g;

/**
 * Patterns of code in the glue that the client does not need. The client itself recognises objects
 * of a module instance that no longer exists. After a failure, it restarts the module before the
 * next call, which also frees the memory of all inputs.
 *
 * The patterns also cover code without effect: factors of 1, and prototypes of imports. Views of
 * the memory are not cached, because making one takes less than a microsecond. A cached view would
 * become invalid when the memory grows.
 */
const REDUNDANT_CODE_PATTERNS = [
  / *if \(this\.__wbg_inst !== undefined && .*\n.*\n *\}\n/g,
  / *Object\.defineProperty\(this, '__wbg_inst', .*\n/g,
  / *__wbg_call_guard\(\);\n/g,
  /function __wbg_call_guard\(\) \{\n(?: .*\n)*\}\n/g,
  / *(?:let )?__wbg_reinit_scheduled = false;\n/g,
  / *cached\w+Memory0 = null;\n/g,
  / *if \(typeof \w+ !== 'undefined'\) \w+ = 0;\n/g,
  / [*/] 1(?=[,;) ])/g,
  / *__proto__: null,\n/g,
  / *try \{\n(?= *ptr0 = )/g,
  / *\} catch \(e\) \{\n(?: *if \(ptr\d\) .*\n)+ *throw e;\n *\}\n/g,
];

/** @param {string} glue */
function removeRedundant(glue) {
  const viewing = glue.replaceAll(CACHED_VIEW, "$2    return $3\n");
  const less = REDUNDANT_CODE_PATTERNS.reduce((text, part) => text.replaceAll(part, ""), viewing);
  if (/__wbg_inst\b|call_guard|reinit_scheduled|if \(ptr\d\)|cached/.test(less)) {
    throw new ExplainedError(
      "the glue looks after instances or memory in another way than is expected",
    );
  }
  return less;
}

/**
 * Returns the glue, changed so that importing it has no effect. Bundlers may then drop it if it is
 * not used, and hosts without TextDecoder can import it.
 *
 * @param {string} glue
 * @param {string} made name of the class that the glue exports
 */
export function patchGlue(glue, made) {
  const [decoder = ""] = DECODER.exec(glue) ?? [];
  const [registry = "", finalization] = finalizationRegistryPattern(made).exec(glue) ?? [];
  const edits = [
    [decoder, "const decodeText = (bytes) => new TextDecoder().decode(bytes);\n"],
    [registry, lazyRegistry(made, finalization)],
    [`if (Symbol.dispose) ${made}.prototype[Symbol.dispose] = ${made}.prototype.free;\n`, ""],
  ];
  return removeRedundant(
    edits.reduce((text, [from = "", to = ""]) => replaceOnce(text, from, to), glue),
  );
}
