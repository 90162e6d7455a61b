/** Default style of `<hushbin-history>`. */

const STYLE = `
:host {
  --text: var(--hushbin-text, #1d1e22);
  --muted: var(--hushbin-muted, #5a5c65);
  --background: var(--hushbin-background, #fff);
  --line: var(--hushbin-line, #d8d9df);
  --accent: var(--hushbin-accent, #1d5bb8);
  --waiting: var(--hushbin-waiting, #b26a00);
  --acknowledged: var(--hushbin-acknowledged, #1a7f4b);
  --refused: var(--hushbin-refused, #c0342c);
  --withdrawn: var(--hushbin-withdrawn, #70727b);
  color-scheme: light dark;
  box-sizing: border-box;
  display: block;
  max-width: 46rem;
  color: var(--text);
  background: var(--background);
  font: var(--hushbin-font, 1rem/1.5 system-ui, sans-serif);
  overflow-wrap: anywhere;
  padding: 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
}
@media (prefers-color-scheme: dark) {
  :host {
    --text: var(--hushbin-text, #ececf0);
    --muted: var(--hushbin-muted, #a8aab4);
    --background: var(--hushbin-background, #17181c);
    --line: var(--hushbin-line, #3a3c44);
    --accent: var(--hushbin-accent, #8fb8f8);
    --waiting: var(--hushbin-waiting, #e0a146);
    --acknowledged: var(--hushbin-acknowledged, #58c08b);
    --refused: var(--hushbin-refused, #f0847c);
    --withdrawn: var(--hushbin-withdrawn, #9497a1);
  }
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; margin: 0; }
[hidden] { display: none; }
.title { font-size: 1.25rem; line-height: 1.3; }
.task { font-size: 1rem; line-height: 1.4; }
section { display: grid; gap: 0.75rem; margin-top: 1rem; }
section + section { border-top: 1px solid var(--line); padding-top: 1rem; }
.consent, .asked, .meaning { color: var(--muted); }
.dry { color: var(--waiting); font-weight: 600; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); gap: 0.75rem 1rem; }
dt { color: var(--muted); font-size: 0.875rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
ul { list-style: none; padding: 0; border-bottom: 1px solid var(--line); }
li { border-top: 1px solid var(--line); padding: 0.625rem 0; display: grid; gap: 0.25rem; }
.line { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.state { flex: 1 1 14rem; }
.state::before {
  content: "";
  display: inline-block;
  width: 0.625rem;
  height: 0.625rem;
  margin-right: 0.5rem;
  border-radius: 50%;
  border: 2px solid var(--withdrawn);
}
.state[data-state="acknowledged"]::before { background: var(--acknowledged); border-color: var(--acknowledged); }
.state[data-state="waiting"]::before { border-color: var(--waiting); }
.state[data-state="refused"]::before { background: var(--refused); border-color: var(--refused); border-radius: 0; }
time, .cost { font-variant-numeric: tabular-nums; white-space: nowrap; }
time { color: var(--muted); }
summary { color: var(--accent); cursor: pointer; width: fit-content; padding: 0.125rem 0; }
details dl { padding: 0.5rem 0 0.25rem; grid-template-columns: 1fr; gap: 0.375rem; }
details div { display: flex; flex-wrap: wrap; gap: 0 1rem; }
details dt { flex: 0 0 11rem; }
details dd { flex: 1 1 18rem; }
code { font: 0.875rem/1.4 ui-monospace, monospace; }
button {
  justify-self: start;
  font: inherit;
  color: var(--accent);
  background: transparent;
  border: 1px solid currentColor;
  border-radius: 0.375rem;
  padding: 0.375rem 0.75rem;
  cursor: pointer;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** Adds the style to a shadow root, even if the page's policy forbids inline styles. */
export function addStyle(root: ShadowRoot, nonce: string): void {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
  } catch {
    // Safari before 16.4 has no constructable style sheets.
    const style = document.createElement("style");
    style.nonce = nonce;
    style.textContent = STYLE;
    root.prepend(style);
  }
}
