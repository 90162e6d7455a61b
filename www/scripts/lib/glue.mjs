// What wasm-bindgen's glue becomes before it is bundled.

import { Failed } from "./run.mjs";

/**
 * Replaces what has to be there just once.
 *
 * @param {string} text
 * @param {string} from
 * @param {string} to
 */
export function once(text, from, to) {
  const parts = text.split(from);
  if (parts.length !== 2) {
    throw new Failed(`expected once, found ${parts.length - 1} times: ${from}`);
  }
  return parts.join(to);
}

/** What decodes the one text that the glue may have to throw, from its first mention on. */
const DECODER = /let cachedTextDecoder = [\s\S]*?\nfunction decodeText\(bytes\) \{[\s\S]*?\n\}\n/;

/** What frees handles that were forgotten, of what is made. */
const registryOf = (made) => new RegExp(`const ${made}Finalization = ([\\s\\S]*?\\n\\}\\));\\n`);

/** The same, made when it is needed. */
const lazy = (made, registry) => `let finalization;
const ${made}Finalization = {
    register(...given) {
        finalization ??= ${registry};
        finalization.register(...given);
    },
    unregister: (token) => finalization.unregister(token),
};
`;

/**
 * Glue that does nothing as it is imported: bundlers may drop it, and a host without
 * TextDecoder can import it.
 *
 * @param {string} glue
 * @param {string} made the class of what it makes
 */
export function patched(glue, made) {
  const [decoder = ""] = DECODER.exec(glue) ?? [];
  const [registry = "", finalization] = registryOf(made).exec(glue) ?? [];
  const edits = [
    [decoder, "const decodeText = (bytes) => new TextDecoder().decode(bytes);\n"],
    [registry, lazy(made, finalization)],
    [`if (Symbol.dispose) ${made}.prototype[Symbol.dispose] = ${made}.prototype.free;\n`, ""],
  ];
  return edits.reduce((text, [from = "", to = ""]) => once(text, from, to), glue);
}
