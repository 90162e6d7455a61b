// Waits for the collector, which npm run demo may still be compiling.

import { byId } from "../shared/dom.js";

/** How often the page asks for the collector while there is none. */
const ASK_MS = 1000;

/** Contents of config.json: address of the collector, or what the page waits for. */
interface Config {
  readonly endpoint?: string;
  readonly waiting?: string;
}

async function configured(): Promise<Config | null> {
  const response = await fetch("config.json", { cache: "no-store" }).catch(() => null);
  return response?.ok ? ((await response.json()) as Config) : null;
}

/**
 * Address of the collector, as soon as there is one.
 *
 * @throws Error if nothing serves config.json, or no longer does
 */
export async function collectorUrl(): Promise<string> {
  const [line, words] = [byId("waiting"), byId("waiting-text")];
  try {
    for (;;) {
      const config = await configured();
      if (config?.endpoint !== undefined) return config.endpoint;
      if (config?.waiting === undefined) {
        throw new Error(
          line.hidden
            ? "The page does not know its collector: config.json is missing beside it. Start it with npm run demo."
            : "npm run demo has ended before its collector was up. The terminal says why.",
        );
      }
      // Unchanged words are not read out again.
      if (words.textContent !== config.waiting) words.textContent = config.waiting;
      line.hidden = false;
      await new Promise((rested) => setTimeout(rested, ASK_MS));
    }
  } finally {
    line.hidden = true;
  }
}
