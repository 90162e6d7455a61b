/** Commands of the README and the book, run as readers type them. */

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maximumCertaintyPercent } from "../../../../www/client/certainty.js";
import { launchChromium } from "../../../../www/scripts/lib/browser.mjs";
import { NPM_BIN_DIR, NPM_PACKAGE_DIR, TARGET } from "../../../../www/scripts/lib/paths.mjs";
import { CHAPTERS, type Chapter, type Step } from "./chapters.js";
import { Shell } from "./shell.js";

/**
 * Commands and chapters that a test cannot run unchanged, with the place where they run instead.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "cargo doc --workspace --no-deps --open": "the step docs, without opening it",
  "cargo install --path server": "the steps of Rust compile it; nothing is installed by a test",
  "npm ci && npm run build": "the step build",
  "curl --fail https://telemetry.example.org/task-log > first.json": "cli::audit compares logs",
  "hushbin audit --task-logs first.json https://telemetry.example.org/task-log":
    "cli::audit compares logs",
  "npm run demo": "its parts: tests/js/e2e serves the same pages and starts a collector",
  "npm test": "this is part of it",
  "cargo binstall hushbin-server": "there is no release to install yet",
  "cargo install hushbin-server --locked": "as above",
  "podman load --input hushbin-0.1.0-image.tar":
    "npm run release tries the image's program without podman",
  "npm install hushbin": "there is no release to install yet; chapters install the tarball",
  "sha256sum --check --ignore-missing SHA256SUMS": "npm run release -- --twice compares them",
  "gh attestation verify SHA256SUMS --repo hushbin/hushbin": "there is no release to verify yet",
  "tar xzf hushbin-0.1.0-x86_64-unknown-linux-musl.tar.gz": "npm run release tries the program",
  'export PATH="$PWD/hushbin-0.1.0-x86_64-unknown-linux-musl:$PATH"': "as above",
  "npx hushbin init": "tests/js/package/init.test.ts, at a terminal",
  "npx esbuild main.ts --bundle --minify --splitting --format=esm --outdir=dist":
    "tests/js/stacks bundles with it",
  "npm audit signatures": "as above",
  "git checkout v0.1.0": "there is no such tag yet",
  "npm run release -- --dry-run": "by .github/workflows/release.yml: it takes long",
  "diff target/release-artefacts/SHA256SUMS SHA256SUMS": "there is no release to compare with yet",
  "systemd-run --pipe --wait -p DynamicUser=yes -p User=hushbin -p StateDirectory=hushbin -p StateDirectoryMode=0700 -p SupplementaryGroups=ssl-cert /usr/local/bin/hushbin doctor --config /etc/hushbin/hushbin.toml":
    "by hand: it needs systemd; the chapter runs doctor itself",
  "www/docs/src/operate/journal.md":
    "server/tests/collector/export/erased.rs, and server/src/store/files/tests; the rest is cp and chown",
  "www/docs/src/operate/proxy.md":
    "by hand: it needs certbot and systemd; server/tests/collector reloads certificates",
  "www/docs/src/operate/upgrade.md":
    "server/tests/collector/formats, on directories and databases of its own",
  "npm run bench": "by hand: it measures for an hour",
  "npm run replay -- --task task.json --data data.txt --endpoint http://127.0.0.1:8080":
    "by hand: it needs a clone, and builds it",
  "www/docs/src/why/peers.md": "server/study/tests, by the program that npm run evaluate runs",
  "www/docs/src/why/published.md": "as above",
  "www/docs/src/why/quantiles.md": "as above",
  "www/docs/src/why/shuffled.md": "as above",
  "curl 'http://127.0.0.1:8080/tasks/queries/heavy-hitters?question=query&alphabet=abcdefghijklmnopqrstuvwxyz+'":
    "tests/js/e2e/text.test.ts, of reports in which there is something to find",
  "hushbin journal export --data data --task queries --format csv --out queries.csv":
    "server/tests/collector/heavy_hitters.rs",
  "hushbin estimate queries.csv --question query --format json":
    "server/tests/collector/heavy_hitters.rs",
  "hushbin serve --database postgres://hushbin@db1,db2/hushbin --task settings.json --listen 0.0.0.0:8686":
    "server/tests/collector, with databases of its own",
  "hushbin serve --database 'host=/var/run/postgresql dbname=hushbin' --task settings.json":
    "server/tests/collector, as above",
  "hushbin serve --database 'postgres:///hushbin?host=/var/run/postgresql' --task settings.json":
    "server/tests/collector, as above",
  "hushbin serve --role relay --gateway https://telemetry.example.org --listen 127.0.0.1:8686":
    "server/tests/collector/ohttp/forward.rs",
  'hushbin token create --database postgres://hushbin@db1,db2/hushbin --role admin --name "on call"':
    "server/tests/collector, as above",
  "hushbin journal export --database postgres://hushbin@db1,db2/hushbin --task settings --format parquet --out reports.parquet":
    "server/tests/collector, as above",
};

let browser: Awaited<ReturnType<typeof launchChromium>>;
/** The packed npm package, as in a release, from which readers start. */
let packed: string;
const folder = mkdtempSync(join(tmpdir(), "hushbin-packed-"));
beforeAll(async () => {
  browser = await launchChromium();
  const options = { cwd: folder, encoding: "utf8" } as const;
  packed = execFileSync("npm", ["pack", NPM_PACKAGE_DIR, "--silent"], options).trim();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/**
 * Converts an output to a pattern: `…` matches anything within a line, and alone in a line any
 * lines.
 */
function pattern(output: string): RegExp {
  const escaped = output
    .trimEnd()
    .split("\n")
    .map((line) =>
      line.trim() === "…"
        ? "(?:.*\\n)*?"
        : `${line
            .trimEnd()
            .split("…")
            .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
            .join(".*")}\\n`,
    );
  return new RegExp(`^${escaped.join("")}$`);
}

const tidy = (text: string) => text.replace(/[ \t]+$/gm, "").trimEnd();

async function open(shell: Shell, { name, until }: Step & { kind: "open" }) {
  const page = await browser.newPage();
  try {
    await page.goto(pathToFileURL(join(shell.folder, name)).href);
    await page.getByText(until).first().waitFor({ timeout: 300_000 });
  } finally {
    await page.close();
  }
}

async function take(shell: Shell, step: Step): Promise<void> {
  switch (step.kind) {
    case "file":
      return shell.write(step.name, step.text);
    case "serve":
      return shell.serve(step.script);
    case "open":
      return open(shell, step);
    case "elsewhere":
      return;
    case "after":
      return takeAll(shell, step.path);
    case "run": {
      const output = await shell.run(step.script);
      if (step.output !== undefined) {
        expect(`${tidy(output)}\n`).toMatch(pattern(step.output));
      }
    }
  }
}

/** Takes all steps of a chapter. */
async function takeAll(shell: Shell, path: string): Promise<void> {
  const { steps = [] } = CHAPTERS.find((chapter) => chapter.path === path) ?? {};
  expect(steps, path).not.toEqual([]);
  for (const step of steps) {
    await take(shell, step);
  }
}

/** Checks that the modules of a chapter compile together. */
function compile(folder: string) {
  const files = readdirSync(folder).filter((file) => file.endsWith(".ts"));
  if (files.length === 0) {
    return;
  }
  if (!existsSync(join(folder, "node_modules/hushbin"))) {
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    symlinkSync(NPM_PACKAGE_DIR, join(folder, "node_modules/hushbin"));
  }
  const compilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    target: "es2022",
    lib: ["es2022", "dom"],
    types: [],
    module: "esnext",
    moduleResolution: "bundler",
    moduleDetection: "force",
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  execFileSync(join(NPM_BIN_DIR, "tsc"), [], { cwd: folder, encoding: "utf8" });
}

async function walk({ path }: Chapter) {
  const shell = new Shell();
  try {
    copyFileSync(join(folder, packed), join(shell.folder, packed));
    await takeAll(shell, path);
    compile(shell.folder);
  } finally {
    await shell.close();
  }
}

describe("commands of", () => {
  const walked = CHAPTERS.filter(({ steps }) =>
    steps.some(({ kind }) => ["run", "serve", "file"].includes(kind)),
  );

  it.each(walked)("$path", walk);

  it("no chapter are left out unless they are run elsewhere", () => {
    const left = CHAPTERS.flatMap(({ path, steps }) =>
      steps.flatMap((step) => {
        const lines = step.kind === "elsewhere" ? step.script.trimEnd().split("\n") : [];
        return path in ELSEWHERE && lines.length > 0 ? [path] : lines;
      }),
    );
    const commands = left.map((line) => line.replace(/ +#.*/, "")).filter((line) => line !== "");
    expect([...new Set(commands)].sort()).toEqual(Object.keys(ELSEWHERE).sort());
  });
});

describe("the README", () => {
  const readme = CHAPTERS.find(({ path }) => path === "README.md")?.text ?? "";
  const answer = (...args: readonly string[]) =>
    execFileSync(join(TARGET, "debug/hushbin"), args, { encoding: "utf8" });

  it.each([1000, 10_000, 100_000, 1_000_000])("has the errors of plan for %d people", (people) => {
    const points = (...kind: readonly string[]) => {
      const plan = answer("plan", "--kind", ...kind, "--people", `${people}`, "--epsilon", "1");
      const [, within] = /±([\d.]+)/.exec(plan) ?? [];
      return `±${Number((100 * Number(within)).toPrecision(3))} points`;
    };
    const [flag, choice] = [points("flag"), points("choice", "--options", "5")];
    expect(readme).toContain(`| ${people.toLocaleString("en")} | ${flag} | ${choice} |`);
  });

  it("shows code that init writes", () => {
    const folder = mkdtempSync(join(tmpdir(), "hushbin-readme-"));
    const flags = ["--choice", "theme=dark,light,system", "--people", "10000", "--error", "4"];
    const script = join(NPM_PACKAGE_DIR, "dist/init.js");
    execFileSync(process.execPath, [script, "init", ...flags, "--out", folder]);
    const compact = (text: string) => text.replaceAll(/\s+/g, " ").replaceAll(", }", " }");
    const written = compact(readFileSync(join(folder, "theme-page.ts"), "utf8"));
    rmSync(folder, { recursive: true });
    const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(code).toContain("client.record(");
    for (const line of code.trim().split("\n")) {
      expect(written).toContain(line.trim());
    }
  });

  it.each([
    [0.5, "62"],
    [1, "73"],
    [2, "88"],
  ])("says how sure someone can become at ε = %d", (epsilon, certainty) => {
    expect(maximumCertaintyPercent(epsilon)).toBe(certainty);
    expect(readme).toContain(`${certainty} %`);
  });
});
