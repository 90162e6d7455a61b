/** Settings page. It stores settings in the browser, and counts them if the person agrees. */

import { createClient, HushbinError } from "hushbin";
import "hushbin/history";
import task from "./settings.json" with { type: "json" };

// The task is in the page, so no other party decides what is asked. Without consent nothing is
// drawn, stored or sent.
const client = createClient({ endpoint: "http://127.0.0.1:8080", task });
document.querySelector("hushbin-history").client = client;

const statistics = document.querySelector("#statistics");
const form = document.querySelector("#settings");
const { theme, captions, autoplay } = form.elements;

const SAID = {
  sent: "Saved, and counted.",
  "over-budget": "Saved. Nothing more is counted this month.",
  "no-storage": "Saved.",
  "no-consent": "Saved.",
};

/** Saves the settings, whether or not they can be reported. */
async function save() {
  const settings = {
    theme: theme.value,
    captions: captions.checked,
    autoplay: autoplay.checked,
  };
  localStorage.setItem("settings", JSON.stringify(settings));
  try {
    const { reason = "sent" } = await client.report(settings);
    return SAID[reason];
  } catch (error) {
    if (error instanceof HushbinError) {
      return `Saved, and not counted: ${error.message}`;
    }
    throw error;
  }
}

function restore() {
  const settings = JSON.parse(localStorage.getItem("settings"));
  if (settings !== null) {
    theme.value = settings.theme;
    captions.checked = settings.captions;
    autoplay.checked = settings.autoplay;
  }
  statistics.checked = localStorage.getItem("statistics") === "yes";
  if (statistics.checked) {
    client.grant();
  }
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  form.querySelector("output").value = await save();
});

statistics.addEventListener("change", async () => {
  localStorage.setItem("statistics", statistics.checked ? "yes" : "no");
  // Revoking also withdraws reports that wait to be sent.
  await (statistics.checked ? client.grant() : client.revoke());
});

restore();
