// Formats all files, or checks their format: Rust, TypeScript, JSON and CSS.
//
//   node www/scripts/format.mjs [--check]
//
// rustfmt gets each file by name, because `cargo fmt` does not find modules that a macro declares.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/paths.mjs";
import { ExplainedError, main, run } from "./lib/run.mjs";
import { nonIgnoredFiles } from "./lib/tracked-files.mjs";

function edition() {
  const manifest = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  const [, year] = manifest.match(/^edition = "(\d+)"$/m) ?? [];
  if (year === undefined) {
    throw new ExplainedError("Cargo.toml states no edition");
  }
  return year;
}

/** @param {{ check: boolean }} options */
export async function formatRust({ check }) {
  const files = await nonIgnoredFiles(/\.rs$/);
  await run("rustfmt", ["--edition", edition(), ...(check ? ["--check"] : []), ...files]);
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const check = process.argv.includes("--check");
    await formatRust({ check });
    await run("biome", ["check", ...(check ? ["--error-on-warnings"] : ["--write"])]);
  });
}
