import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "client",
          include: ["www/client/tests/*.test.ts", "www/demo/tests/*.test.ts"],
          restoreMocks: true,
          unstubGlobals: true,
        },
      },
      {
        test: { name: "package", include: ["tests/js/package/*.test.ts"], testTimeout: 60_000 },
      },
      {
        test: {
          name: "e2e",
          include: ["tests/js/e2e/*.test.ts"],
          // Each file has its own collector and page; the processor has few cores.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
