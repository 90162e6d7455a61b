/** `npx hushbin init` of the package as it is published, without a collector. */

import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NPM_BIN_DIR, NPM_PACKAGE_DIR } from "../../../www/scripts/lib/paths.mjs";
import { machinePaths } from "../../../www/scripts/lib/release/source.mjs";
import { exampleCall, KINDS, runToEnd, type Typed } from "./init-command.js";

/** Project of a user, into which the packed package is installed. */
let project: string;
/** Folder of one test, in the project. */
let folder: string;
let tests = 0;

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "hushbin-init-")));
  const run = (args: readonly string[], cwd: string) =>
    execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const packed = run(["pack", "--silent", "--pack-destination", project], NPM_PACKAGE_DIR).trim();
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true }));
  run(["install", "--offline", "--no-audit", "--no-fund", join(project, packed)], project);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

beforeEach(() => {
  tests += 1;
  folder = join(project, `test-${tests}`);
  mkdirSync(folder);
});

const written = () => readdirSync(folder).sort();
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const init = (...flags: readonly string[]) =>
  runToEnd("npx", ["hushbin", "init", ...flags], { cwd: folder });

/** Answers at a terminal, each after its prompt. */
const type = (...answers: readonly Typed[]) =>
  runToEnd("script", ["--quiet", "--return", "--command", "npx hushbin init", "/dev/null"], {
    cwd: folder,
    answers,
  });

/** Compiles all modules of the folder, as strictly as TypeScript can. */
function compile() {
  const compilerOptions = {
    ...{ noEmit: true, strict: true, exactOptionalPropertyTypes: true },
    ...{ noUncheckedIndexedAccess: true, verbatimModuleSyntax: true, isolatedModules: true },
    ...{ noUnusedLocals: true, target: "es2022", lib: ["es2022", "dom"], types: [] },
    ...{ module: "esnext", moduleResolution: "bundler" },
  };
  const files = written().filter((file) => file.endsWith(".ts"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  execFileSync(join(NPM_BIN_DIR, "tsc"), [], { cwd: folder, encoding: "utf8" });
}

describe("by flags", () => {
  it.each(KINDS)("writes %s, and code that compiles", async (id, ...flags) => {
    const { code, out, err } = await init(...flags);
    expect([code, err]).toEqual([0, ""]);
    expect(written()).toEqual([`${id}-page.ts`, `${id}.json`, `${id}.ts`]);
    const { epsilon } = JSON.parse(read(`${id}.json`));
    expect(epsilon).toBeGreaterThan(0);
    expect(epsilon).toBeLessThanOrEqual(2);
    expect(out).toContain(`ε = ${epsilon} is enough`);
    expect(out).toContain(`hushbin serve --data data --task ${id}.json `);
    // Answers are checked against the task.
    const call = exampleCall(read(`${id}-page.ts`));
    const caller = `import { report } from "./${id}-page";\n`;
    writeFileSync(join(folder, "caller.ts"), caller + call);
    compile();
    writeFileSync(
      join(folder, "caller.ts"),
      caller + call.replace(/(report\(\{ "?)\w/, "$1unknown"),
    );
    expect(compile).toThrow();
  });

  it("reaches the error, and not with a much smaller ε", async () => {
    // A flag's variance is e^ε/(e^ε − 1)² / n, at 1.96 standard errors.
    const error = (epsilon: number) =>
      (196 * Math.sqrt(Math.exp(epsilon) / 10_000)) / Math.expm1(epsilon);
    await init("--flags", "beta", "--people", "10000", "--error", "2");
    const { epsilon } = JSON.parse(read("beta.json"));
    expect(error(epsilon)).toBeLessThanOrEqual(2.0001);
    expect(error(0.99 * epsilon)).toBeGreaterThan(2);
  });

  it("takes no ε that hardly protects more", async () => {
    const { out } = await init("--flags", "beta", "--people", "1000000", "--error", "5");
    expect(out).toContain("ε = 0.1 is enough");
    expect(out).toContain("±1.96 points (95 % confidence), more exact than you asked");
  });

  it("writes to another folder under another id", async () => {
    const { code, out } = await init(...(KINDS[0]?.slice(1) ?? []), "--id", "ui", "--out", "a b/c");
    expect(code).toBe(0);
    expect(readdirSync(join(folder, "a b/c")).sort()).toEqual(["ui-page.ts", "ui.json", "ui.ts"]);
    expect(read("a b/c/ui-page.ts")).toContain('from "./ui"');
    expect(out).toContain("--task 'a b/c/ui.json'");
  });

  it("overwrites no file", async () => {
    writeFileSync(join(folder, "settings-page.ts"), "mine");
    const { code, out, err } = await init(...(KINDS[0]?.slice(1) ?? []));
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("settings-page.ts exists and is not overwritten");
    expect(written()).toEqual(["settings-page.ts"]);
    expect(read("settings-page.ts")).toBe("mine");
  });

  it("says what is out of reach, and what is not", async () => {
    const { code, err } = await init("--flags", "beta", "--people", "1000", "--error", "1");
    expect(code).toBe(2);
    expect(err).toContain("±1 points is out of reach for 1,000 visitors");
    const [, reached = "", needed = ""] =
      /they reach ±([\d.]+) points\. ±1 points needs ([\d,]+) visitors/.exec(err) ?? [];
    expect(written()).toEqual([]);
    for (const [people, error] of [
      ["1000", String(Number(reached) + 0.01)],
      [needed, "1"],
    ] as const) {
      const flags = ["--people", people, "--error", error, "--id", `with-${people.length}`];
      expect(await init("--flags", "beta", ...flags)).toMatchObject({ code: 0 });
    }
  });

  const REST = ["--people", "10000", "--error", "2"];
  it.each([
    ["expected --people and --error", ["--flags", "beta"]],
    ["expected one of --flags, --choice, --set, --number", REST],
    [
      "expected a task of its own for each number",
      ["--flags", "beta", "--number", "load=0..30s", ...REST],
    ],
    ["two items are named", ["--flags", "beta", "--choice", "beta=a,b", ...REST]],
    ['--flags: "a" is listed twice', ["--flags", "a,a", ...REST]],
    ['--flags: "a," is no list', ["--flags", "a,", ...REST]],
    ['--choice: "a,b" has no "="', ["--choice", "a,b", ...REST]],
    ["--choice: the name is empty", ["--choice", "=a,b", ...REST]],
    ["expected at least 2 names", ["--choice", "theme=a", ...REST]],
    ["only one of --set and --at-most is given", ["--set", "f=a,b", ...REST]],
    ["expected 1 to 2", ["--set", "f=a,b", "--at-most", "3", ...REST]],
    ['--number: "30..0s" is no range', ["--number", "load=30..0s", ...REST]],
    ['--people: "ten" is no number of people', ["--flags", "a", "--people", "ten", "--error", "2"]],
    ["more than 0 and less than 50 points", ["--flags", "a", "--people", "1000", "--error", "x"]],
    ['--error: "2 s" is no error', ["--flags", "a", "--people", "1000", "--error", "2 s"]],
    ['--id: task id "../a" is not a slug', ["--flags", "a", "--id", "../a", ...REST]],
    ["--flags: item 0 has the name", ["--flags", "n".repeat(2000), ...REST]],
    ["Unknown option '--flag'", ["--flag", "a", ...REST]],
  ])("refuses with %s", async (message, flags) => {
    const { code, out, err } = await init(...flags);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err.trimEnd()).not.toContain("\n");
    expect(written()).toEqual([]);
  });
});

describe("at a terminal", () => {
  it("asks, and asks again after bad answers", async () => {
    writeFileSync(join(folder, "survey.json"), "{}");
    const { code, out } = await type(
      ["1 to 4: ", "5\n"],
      ["1 to 4: ", "2\n"],
      ["such as theme: ", "theme\n"],
      ["such as dark,light,system: ", "dark\n"],
      ["such as dark,light,system: ", "dark,light,system\n"],
      ["for another question: ", "4\n"],
      ["for another question: ", "1\n"],
      ["such as dark-mode,captions: ", "theme\n"],
      ["such as dark-mode,captions: ", "beta\n"],
      ["for another question: ", "\n"],
      ["Another id for the task: ", "ui-theme\n"],
      ["such as 10000: ", "many\n"],
      ["such as 10000: ", "10000\n"],
      ["such as 2: ", "0.5\n"],
      ["such as 2: ", "4\n"],
      ["Enter to write the files", "3\n"],
      ["Enter to write the files", "\n"],
    );
    expect(code).toBe(0);
    for (const complaint of [
      '"5" is none of them, expected 1 to 4',
      '"dark" is no list, expected at least 2 names',
      '"4" is none of them, expected 1 to 3',
      "two items are named",
      "survey.json exists and is not overwritten",
      '"many" is no number of people',
      "±0.5 points is out of reach",
    ]) {
      expect(out).toContain(complaint);
    }
    expect(read("survey.json")).toBe("{}");
    const byFlags = join(folder, "flags");
    mkdirSync(byFlags);
    const questions = ["--choice", "theme=dark,light,system", "--flags", "beta"];
    const flags = [...questions, "--people", "10000", "--error", "3"];
    await init(...flags, "--id", "ui-theme", "--out", "flags");
    for (const name of readdirSync(byFlags)) {
      expect(read(name)).toBe(read(`flags/${name}`));
    }
    compile();
  });

  // The keys Control-C and Control-D.
  it.each(["\x03", "\x04"])("writes nothing if it is left by %j", async (key) => {
    const { code, out } = await type(
      ["1 to 4: ", "1\n"],
      // A second answer may be pasted together with the first.
      ["such as dark-mode,captions: ", "beta\n\n1000\n"],
      ["such as 2: ", key],
    );
    expect(code).toBe(130);
    expect(out).toContain("interrupted, nothing was written");
    expect(written()).toEqual([]);
  });
});

describe("the command", () => {
  const run = (...args: readonly string[]) =>
    runToEnd("npx", ["hushbin", ...args], { cwd: folder });

  it("names no folder of the machine that built it", () => {
    const module = readFileSync(join(project, "node_modules/hushbin/dist/planner.wasm"), "latin1");
    // Messages of panics name the files of crates.
    expect(module).toContain("/crates/");
    for (const path of machinePaths()) {
      expect(module).not.toContain(path);
    }
  });

  it("explains its options", async () => {
    const { code, out } = await run("init", "--help");
    expect(code).toBe(0);
    for (const flag of KINDS.flatMap((kind) => kind.filter((word) => word.startsWith("--")))) {
      expect(out).toContain(flag);
    }
  });

  it.each([[[]], [["serve", "--data", "data"]]])("has no other: %j", async (args) => {
    const { code, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toContain("the collector is a program of its own: https://");
  });
});
