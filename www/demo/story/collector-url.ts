// The address of the collector, for which the page may have to wait while `npm run demo` compiles
// it.

import { byId } from "../shared/dom.js";

/** Interval in ms between requests for config.json. */
const CONFIG_POLL_MS = 1000;

/**
 * Contents of config.json: the address of the collector, or a text on what `npm run demo` is still
 * doing.
 */
interface PageConfig {
  readonly endpoint?: string;
  readonly waiting?: string;
}

async function fetchConfig(): Promise<PageConfig | null> {
  const response = await fetch("config.json", { cache: "no-store" }).catch(() => null);
  return response?.ok ? ((await response.json()) as PageConfig) : null;
}

/**
 * Resolves with the address of the collector as soon as there is one.
 *
 * @throws Error if nothing serves config.json, or no longer does
 */
export async function waitForCollectorUrl(): Promise<string> {
  const [line, words] = [byId("waiting"), byId("waiting-text")];
  try {
    for (;;) {
      const config = await fetchConfig();
      if (config?.endpoint !== undefined) return config.endpoint;
      if (config?.waiting === undefined) {
        throw new Error(
          line.hidden
            ? "The page cannot find its collector, because config.json is missing. Start the page with npm run demo."
            : "npm run demo ended before its collector was running. The terminal shows why.",
        );
      }
      // Screen readers would announce an unchanged text again.
      if (words.textContent !== config.waiting) words.textContent = config.waiting;
      line.hidden = false;
      await new Promise((rested) => setTimeout(rested, CONFIG_POLL_MS));
    }
  } finally {
    line.hidden = true;
  }
}
