// Files of the npm package that contain code.

/** Names of the package's entry files. */
export const ENTRIES = [
  "index",
  "slim",
  "testing",
  "history",
  "task-log",
  "consent",
  "react",
  "web-vitals",
];
/**
 * Names of the files that are loaded when a task or a browser needs them. Each file comes after
 * those that it loads.
 */
export const LAZY_LOADED_FILES = [
  "collision-module",
  "complete",
  "fallback",
  "extras",
  "leaving",
  "oblivious",
  "x25519",
  "sealing",
  "sums-fallback",
  "sums",
  "shuffled",
  "engine",
];

/** Names of the files that are loaded later and throw error classes of the page. */
export const FILES_THROWING_PAGE_ERRORS = ["engine", "extras", "sums", "shuffled"];
