/** The service worker: counts which options are on, of those who agree. */

import task from "./settings.json";
import { client, follow, remembered } from "./statistics.js";

async function count() {
  const { on, agrees } = await remembered();
  await follow(agrees);
  // An option that is on is 1, and one that is off -1. Without consent nothing comes of it.
  const answers = task.items.map((item) => [item, on.includes(item) ? 1 : -1]);
  await client.report(Object.fromEntries(answers));
  // What fails here is kept, and sent as the worker is next awake.
  await client.flush().catch(console.warn);
  // A page of options, if one is open, shows what has become of it.
  await chrome.runtime.sendMessage("counted").catch(() => {});
}

// The client keeps to one report in thirty days.
chrome.runtime.onInstalled.addListener(count);
chrome.runtime.onStartup.addListener(count);
chrome.storage.local.onChanged.addListener(count);
