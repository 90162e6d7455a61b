/** Service worker of the extension. If the person agrees, it counts the options that are on. */

import task from "./settings.json";
import { client, follow, remembered } from "./statistics.js";

async function count() {
  const { on, agrees } = await remembered();
  await follow(agrees);
  // An option is 1 if it is on, and −1 if it is off. Without consent, `report` does nothing.
  const answers = task.items.map((item) => [item, on.includes(item) ? 1 : -1]);
  await client.report(Object.fromEntries(answers));
  // Reports that cannot be sent are kept, and sent when the worker runs next.
  await client.flush().catch(console.warn);
  // If the options page is open, it updates its history.
  await chrome.runtime.sendMessage("counted").catch(() => {});
}

// The client makes at most one report in thirty days.
chrome.runtime.onInstalled.addListener(count);
chrome.runtime.onStartup.addListener(count);
chrome.storage.local.onChanged.addListener(count);
