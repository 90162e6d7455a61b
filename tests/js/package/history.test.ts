/** The history element in Chromium shows the latest change, for every timing. */

import { expect, it } from "vitest";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";

const PAGE = `<!doctype html><link rel="icon" href="data:," />
  <script type="module" src="/dist/history.js"></script>`;

/** Runs in the page: changes a client some turns after it was read. Returns the displayed text. */
async function shownAfter(turns: number): Promise<string> {
  await customElements.whenDefined("hushbin-history");
  let reports = 1;
  let reads = 0;
  let changed = () => {};
  const client = {
    about: { url: "https://collector.example/tasks/settings", task: undefined, dryRun: false },
    consent: "granted",
    budget: async () => ({ used: 0, spent: 0, reports, durable: true }),
    history: async () => {
      reads += 1;
      if (reads === 1) {
        const change = async () => {
          for (let turn = 0; turn < turns; turn += 1) {
            await Promise.resolve();
          }
          reports = 7;
          changed();
        };
        void change();
      }
      return [];
    },
    watch: (watcher: () => void) => {
      changed = watcher;
      return () => {};
    },
  };
  const history = Object.assign(document.createElement("hushbin-history"), { client });
  document.body.append(history);
  await new Promise((resolve) => setTimeout(resolve, 20));
  history.remove();
  return history.shadowRoot?.textContent ?? "";
}

it("shows a change at any turn after it has read", async () => {
  const site = await serve({
    directories: { "/dist/": DIST },
    documents: { "/": { type: "text/html", body: PAGE } },
  });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(site.url);
    const stale: number[] = [];
    for (let turns = 1; turns < 20; turns += 1) {
      const text = await page.evaluate(shownAfter, turns);
      stale.push(...(text.includes("7 reports") ? [] : [turns]));
    }
    expect(stale).toEqual([]);
  } finally {
    await browser.close();
    site.close();
  }
});
