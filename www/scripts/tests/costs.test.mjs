// Tests the processor time of steps, including concurrent ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { costTable, run, runConcurrently, step, stepCosts } from "../lib/run.mjs";

const BUSY = "while (process.cpuUsage().user < 6e5) {}";

test("a step is charged for what its programs start, and not for what runs beside it", async () => {
  await runConcurrently(
    () => step("busy", () => run("sh", ["-c", `node -e '${BUSY}'; true`])),
    () => step("idle", () => run("sh", ["-c", "sleep 1"])),
  );
  const of = (name) => stepCosts.find((cost) => cost.name === name)?.cpu ?? assert.fail(name);
  assert.ok(of("busy") >= 600, `busy: ${of("busy")} ms`);
  assert.ok(of("idle") < 200, `idle: ${of("idle")} ms`);
  const [, first = ""] = costTable();
  assert.match(first, /s {2}busy$/);
});
