// Sign-in with an analyst's token. The browser stores the token for this tab only.

import { el } from "../demo/shared/dom.js";

const TOKEN_STORAGE_KEY = "hushbin-token";

/** Returns the token that is stored for this tab, or `null` if there is none. */
export const storedToken = (): string | null => sessionStorage.getItem(TOKEN_STORAGE_KEY);

export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(TOKEN_STORAGE_KEY);
  else sessionStorage.setItem(TOKEN_STORAGE_KEY, token);
}

/**
 * Draws the form in which an analyst enters a token. `enter` tries the token. It returns an error
 * message, or `null` if the token was accepted. `why` is the first error message.
 */
export function signInForm(
  enter: (token: string) => Promise<string | null>,
  why: string | null,
): readonly HTMLElement[] {
  const field = el("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "token-help token-error",
  });
  const error = el("p", { id: "token-error", class: "field-error", role: "alert" }, why ?? "");
  const button = el("button", { type: "submit" }, "Sign in");
  const form = el(
    "form",
    { class: "panel sign-in", novalidate: true },
    el("h1", {}, "Sign in"),
    el("p", {}, "You need an analyst’s token to see the estimates of this collector."),
    el("label", { for: "token" }, "Analyst’s token"),
    field,
    el(
      "p",
      { class: "help", id: "token-help" },
      "The operator of the collector creates a token with ",
      el("code", {}, "hushbin token create --role analyst"),
      ". The token stays in this tab until you sign out or close the tab.",
    ),
    error,
    button,
  );
  const say = (words: string) => {
    error.textContent = words;
    if (words === "") field.removeAttribute("aria-invalid");
    else field.setAttribute("aria-invalid", "true");
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  async function submit(): Promise<void> {
    const token = field.value.trim();
    if (token === "") say("Enter a token.");
    // An HTTP header cannot carry other characters.
    else if (!/^[\x21-\x7e]+$/.test(token))
      say("A token has no spaces and no letters beyond ASCII.");
    else {
      say("");
      button.disabled = true;
      const wrong = await enter(token);
      button.disabled = false;
      if (wrong === null) return;
      say(wrong);
    }
    field.select();
    field.focus();
  }
  return [form];
}
