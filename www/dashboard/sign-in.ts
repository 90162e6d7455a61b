// Who looks: an analyst's token, kept for this tab alone.

import { el } from "../demo/shared/dom.js";

const KEY = "hushbin-token";

/** The token that this tab has. */
export const remembered = (): string | null => sessionStorage.getItem(KEY);

export function remember(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}

/** Asks for a token; `enter` answers what is wrong with one, or nothing. */
export function signIn(
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
    el("p", {}, "What this collector has released is for analysts."),
    el("label", { for: "token" }, "Analyst’s token"),
    field,
    el(
      "p",
      { class: "help", id: "token-help" },
      "Whoever runs the collector makes one: ",
      el("code", {}, "hushbin token create --role analyst"),
      ". It is kept in this tab alone, until you sign out or close it.",
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
    // Nothing else can be sent as a header.
    else if (!/^[\x21-\x7e]+$/.test(token)) say("A token is of letters, digits and “_” alone.");
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
