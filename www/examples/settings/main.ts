/** Reports which settings are on: when they are saved, and only if that is allowed. */

import { type Client, createClient, HushbinError } from "hushbin";

const SETTINGS = ["dark-mode", "autoplay"];

/** Made when it is first needed: a page that may not report fetches nothing. */
let client: Promise<Client> | undefined;

async function report(chosen: FormData): Promise<string> {
  client ??= createClient({ endpoint: "/telemetry", task: "settings" });
  try {
    const answers = Object.fromEntries(SETTINGS.map((name) => [name, chosen.has(name) ? 1 : -1]));
    await (await client).report(answers);
    return "Saved. What was reported is randomised.";
  } catch (error) {
    if (error instanceof HushbinError) {
      // Settings are saved all the same; `error.code` says what went wrong.
      return `Saved, and nothing reported: ${error.message}`;
    }
    throw error;
  }
}

document.querySelector("form")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const chosen = new FormData(event.currentTarget as HTMLFormElement);
  const answer = chosen.has("share") ? await report(chosen) : "Saved.";
  document.querySelector("output")?.replaceChildren(answer);
});
