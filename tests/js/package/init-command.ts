/** The command `npx hushbin init`, run as a user types it. */

import { spawn } from "node:child_process";
import { once } from "node:events";

/** One question of each kind, as flags of the command, with the id of its task. */
export const KINDS: readonly (readonly [id: string, ...flags: string[]])[] = [
  ["settings", "--flags", "dark-mode,captions", "--people", "10000", "--error", "2"],
  ["theme", "--choice", "theme=dark,light,system", "--people", "50,000", "--error", "±1.5"],
  [
    "features",
    ...["--set", "features=search,export,it's,__proto__", "--at-most", "2"],
    ...["--people", "100000", "--error", "2"],
  ],
  [
    "survey",
    ...[
      "--flags",
      "dark,captions",
      "--choice",
      "layout=list,grid,map",
      "--choice",
      "font=serif,sans",
    ],
    ...["--people", "40000", "--error", "2"],
  ],
  ["load-time", "--number", "loadTime=0..30s", "--people", "20000", "--error", "0.5 s"],
];

/** Returns the call of `report` that the written code has as an example. */
export function exampleCall(code: string): string {
  const [, call] = /^ \* (report\(.*\);)$/m.exec(code) ?? [];
  if (call === undefined) {
    throw new Error(`no example in ${code}`);
  }
  return call;
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Answer that is typed once a prompt is shown. */
export type Typed = readonly [prompt: string, answer: string];

/** Runs a program until it ends. Its input stays open. */
export async function runToEnd(
  program: string,
  args: readonly string[],
  { cwd, answers = [] }: { readonly cwd: string; readonly answers?: readonly Typed[] },
): Promise<Ended> {
  const env = { ...process.env, NO_COLOR: "1" };
  const child = spawn(program, args, { cwd, env, stdio: "pipe" });
  const output = { out: "", err: "" };
  const open = [...answers];
  let sinceAnswer = "";
  child.stderr.on("data", (data) => {
    output.err += data;
  });
  child.stdout.on("data", (data) => {
    output.out += data;
    sinceAnswer += data;
    const [[prompt, answer] = ["", ""]] = open;
    if (open.length > 0 && sinceAnswer.includes(prompt)) {
      open.shift();
      sinceAnswer = "";
      child.stdin.write(answer);
    }
  });
  const [code] = await once(child, "close");
  return { code, ...output };
}
