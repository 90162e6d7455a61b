/** The crates as they are packed, for a project that depends on them as on those of crates.io. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, TARGET } from "../../../www/scripts/lib/paths.mjs";

const CRATES = ["hushbin", "hushbin-analysis", "hushbin-server"];
const VERSION = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version as string;

/** Packs the crates and unpacks them; one folder for each state, as cargo goes by files' ages. */
function unpacked(): string {
  const packages = CRATES.flatMap((name) => ["--package", name]);
  const options = ["--offline", "--quiet", "--no-verify", "--allow-dirty"];
  execFileSync("cargo", ["package", ...options, ...packages], { cwd: ROOT, stdio: "pipe" });
  const files = CRATES.map((name) => join(TARGET, "package", `${name}-${VERSION}.crate`));
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(readFileSync(file));
  }
  const folder = join(TARGET, "crates", hash.digest("hex").slice(0, 16));
  if (!existsSync(folder)) {
    rmSync(join(TARGET, "crates"), { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const file of files) {
      execFileSync("tar", ["-xzf", file], { cwd: folder });
    }
  }
  return folder;
}

/**
 * Has a project take the packed crates in place of crates.io's, and whatever else the workspace
 * has compiled: by its lock file, its compiler and its profiles.
 *
 * @param project its folder
 * @returns the environment in which cargo builds it
 */
export function usePackedCrates(project: string): NodeJS.ProcessEnv {
  const folder = unpacked();
  const patches = CRATES.map(
    (name) => `${name} = { path = ${JSON.stringify(join(folder, `${name}-${VERSION}`))} }`,
  );
  const manifest = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  const profiles = manifest.match(/^\[profile\.dev\][\s\S]*?(?=^\[profile\.release\])/m)?.[0] ?? "";
  mkdirSync(join(project, ".cargo"));
  const config = ["[patch.crates-io]", ...patches, "", profiles].join("\n");
  writeFileSync(join(project, ".cargo/config.toml"), config);
  for (const file of ["Cargo.lock", "rust-toolchain.toml"]) {
    copyFileSync(join(ROOT, file), join(project, file));
  }
  return { CARGO_TARGET_DIR: TARGET, CARGO_NET_OFFLINE: "true" };
}
