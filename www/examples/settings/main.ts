/** Reports which settings are on: when they are saved, and only if that is allowed. */

import { createClient, HushbinError, type Receipt } from "hushbin";
import { task } from "./settings.js";

/**
 * The task is in the page, so that nobody but the page decides what it reports. Nothing is
 * drawn, stored or sent before consent is granted.
 */
const client = createClient({ endpoint: "/telemetry", task });

const SAID: Readonly<Record<Receipt["outcome"], string>> = {
  queued: "Saved. What is reported is randomised.",
  unchanged: "Saved. That was reported already.",
  "over-budget": "Saved. Nothing more is reported this month.",
  "no-consent": "Saved.",
};

/** What was done, in words; settings are saved whatever becomes of the report. */
async function report(chosen: FormData): Promise<string> {
  const value = (name: string) => (chosen.has(name) ? 1 : -1);
  try {
    const { outcome } = await client.report({
      "dark-mode": value("dark-mode"),
      autoplay: value("autoplay"),
    });
    return SAID[outcome];
  } catch (error) {
    if (error instanceof HushbinError) {
      // `error.code` says what went wrong.
      return `Saved, and nothing reported: ${error.message}`;
    }
    throw error;
  }
}

const form = document.querySelector("form");
const share = document.querySelector<HTMLInputElement>("[name=share]");

/** The person's choice holds for later visits too. */
function choose(agrees: boolean): void {
  localStorage.setItem("share", String(agrees));
  if (agrees) {
    client.grant();
  } else {
    // Also forgets what waits to be sent.
    client.revoke().catch(console.error);
  }
}

if (share !== null) {
  share.checked = localStorage.getItem("share") === "true";
  share.addEventListener("change", () => choose(share.checked));
  if (share.checked) {
    client.grant();
  }
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = await report(new FormData(form));
  document.querySelector("output")?.replaceChildren(answer);
});
