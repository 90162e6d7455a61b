"use client";

import { HushbinError, type Receipt } from "hushbin";
import { useActionState } from "react";
import { client } from "./client";
import { useConsent } from "./consent";
import type { task } from "./features";

const FEATURES: Readonly<Record<(typeof task.items)[number], string>> = {
  search: "Search",
  export: "Export",
  sharing: "Sharing",
};

const NOT_SENT: Readonly<Record<NonNullable<Receipt["reason"]>, string>> = {
  "over-budget": "Thank you. You have told us this month already.",
  "no-storage": "Nothing was sent: this browser stores nothing for this site.",
  "no-consent": "Nothing was sent: you have not agreed.",
};

/** Reads the form's answers: 1 for a feature that works, −1 for one that does not. */
function answers(form: FormData) {
  const said = Object.keys(FEATURES).filter((feature) => form.has(feature));
  return Object.fromEntries(said.map((feature) => [feature, Number(form.get(feature))]));
}

async function send(_: string, form: FormData): Promise<string> {
  try {
    const { reason } = await client.report(answers(form));
    return reason === undefined ? "Thank you." : NOT_SENT[reason];
  } catch (error) {
    if (error instanceof HushbinError) {
      return `Nothing was sent: ${error.message}`;
    }
    throw error;
  }
}

export function Feedback() {
  const [said, action] = useActionState(send, "");
  const [agrees, setAgrees] = useConsent();
  return (
    <>
      <label>
        <input
          type="checkbox"
          checked={agrees}
          onChange={({ target }) => setAgrees(target.checked)}
        />{" "}
        Send my answers, randomised
      </label>
      <p>
        We learn for how many people each works, not what you answered. Once in thirty days, your
        browser sends a report with random noise in it. Anyone who sees it can go from 50 % sure of
        one of your answers to at most 73 % sure.
      </p>
      <form action={action}>
        {Object.entries(FEATURES).map(([feature, name]) => (
          <fieldset key={feature}>
            <legend>{name}</legend>
            <label>
              <input type="radio" name={feature} value="1" /> works
            </label>{" "}
            <label>
              <input type="radio" name={feature} value="-1" /> does not
            </label>
          </fieldset>
        ))}
        <button type="submit">Send</button>
        <output>{said}</output>
      </form>
    </>
  );
}
