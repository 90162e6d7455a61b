// npm run build:book: builds the book in demo-dist/book/, next to the demo pages that the book
// shows. Run npm run build and npm run build:demo first.

import { join } from "node:path";
import { DEMO_DIST, ROOT } from "./lib/paths.mjs";
import { main, run, step } from "./lib/run.mjs";
import { mdbook, requiredToolEnv } from "./lib/tools.mjs";

const BOOK = join(ROOT, "www/docs");
const BOOK_DIST = join(DEMO_DIST, "book");

export async function buildBook() {
  const env = await requiredToolEnv(mdbook);
  await step("build: book", () =>
    run("mdbook", ["build", BOOK, "--dest-dir", BOOK_DIST], { env, quiet: true }),
  );
}

if (process.argv[1] === import.meta.filename) {
  await main(buildBook);
}
