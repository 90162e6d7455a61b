/** Options page. It stores the options and shows what was reported. */

import "hushbin/history";
import { client, follow, remembered } from "./statistics.js";

const history = document.querySelector("hushbin-history");
const statistics = document.querySelector("#statistics");
const options = [...document.querySelectorAll("form input")];

async function restore() {
  const { on, agrees } = await remembered();
  for (const option of options) {
    option.checked = on.includes(option.name);
  }
  statistics.checked = agrees;
  await follow(agrees);
  history.client = client;
}

document.addEventListener("change", async ({ target }) => {
  const on = options.filter(({ checked }) => checked).map(({ name }) => name);
  await chrome.storage.local.set({ on, agrees: statistics.checked });
  if (target === statistics) {
    await follow(statistics.checked);
  }
});

// The service worker has reported.
chrome.runtime.onMessage.addListener(() => {
  history.client = client;
});

restore();
