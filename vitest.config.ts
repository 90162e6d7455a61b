import { defineConfig } from "vitest/config";

// Waits end on conditions. Nothing here says how fast a machine is: this ends
// what would never end.
const BACKSTOP = { testTimeout: 600_000, hookTimeout: 3_000_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "client",
          include: [
            "www/client/tests/*.test.ts",
            "www/demo/tests/*.test.ts",
            "www/dashboard/tests/*.test.ts",
          ],
          restoreMocks: true,
          unstubGlobals: true,
          ...BACKSTOP,
        },
      },
      {
        test: { name: "package", include: ["tests/js/package/*.test.ts"], ...BACKSTOP },
      },
      {
        test: {
          name: "e2e",
          include: ["tests/js/e2e/**/*.test.ts"],
          // Each file has its own collector and page; a machine may have few cores.
          fileParallelism: false,
          ...BACKSTOP,
          expect: { poll: { timeout: BACKSTOP.testTimeout } },
        },
      },
      {
        test: {
          name: "stacks",
          include: ["tests/js/stacks/*.test.ts"],
          // Bundlers keep a core busy each, and a machine may have few.
          maxConcurrency: 3,
          ...BACKSTOP,
          expect: { poll: { timeout: BACKSTOP.testTimeout } },
        },
      },
      {
        test: {
          name: "examples",
          include: ["tests/js/examples/*.test.ts"],
          // As above.
          fileParallelism: false,
          ...BACKSTOP,
          expect: { poll: { timeout: BACKSTOP.testTimeout } },
        },
      },
    ],
  },
});
