// Tests that programs which install the npm packages also start in a checkout without packages.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { ROOT } from "../lib/paths.mjs";

const SCRIPTS = "www/scripts";
const STATIC = /^(?:import\b|(?:import|export)\b[^;"'()]*?\bfrom)\s*["']([^"']+)["']/gm;

/**
 * Returns the packages that are loaded together with `file`, each with the file that imports it.
 *
 * @param {string} file
 * @param {(name: string) => string} [read]
 */
function packages(file, read = (name) => readFileSync(join(ROOT, name), "utf8")) {
  /** @type {string[]} */
  const found = [];
  const seen = new Set([file]);
  for (const from of seen) {
    for (const [, name = ""] of read(from).matchAll(STATIC)) {
      if (name.startsWith(".")) {
        seen.add(posix.join(posix.dirname(from), name));
      } else if (!name.startsWith("node:")) {
        found.push(`${from}: ${name}`);
      }
    }
  }
  return { found, seen };
}

test("what installs the packages is loaded without them", () => {
  const installers = readdirSync(join(ROOT, SCRIPTS))
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => `${SCRIPTS}/${name}`)
    .filter((file) => packages(file).seen.has(`${SCRIPTS}/setup.mjs`));
  assert.ok(installers.includes(`${SCRIPTS}/test.mjs`));
  assert.ok(installers.includes(`${SCRIPTS}/demo.mjs`));
  assert.deepEqual(
    installers.flatMap((file) => packages(file).found),
    [],
  );
});

test("a package is seen through several files, and a later import is not", () => {
  /** @type {Record<string, string>} */
  const files = {
    "a/one.mjs": 'import {\n  two,\n} from "./two.mjs";\nimport "node:fs";',
    "a/two.mjs": 'export * from "../b/three.mjs";\nawait import("ws");',
    "b/three.mjs": 'import semver from "semver";',
  };
  assert.deepEqual(packages("a/one.mjs", (name) => files[name] ?? "").found, [
    "b/three.mjs: semver",
  ]);
});
