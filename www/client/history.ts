/**
 * `<hushbin-history>`: shows people what left their browser, what hides them in it and what
 * it cost.
 *
 * Importing it defines the element where there are custom elements, and does nothing
 * elsewhere.
 *
 * @packageDocumentation
 */

import { el } from "./history/dom.js";
import { styled } from "./history/style.js";
import type { Watched } from "./history/told.js";
import { View } from "./history/view.js";
import { ENGLISH, type Words } from "./history/words.js";

export type { Protection } from "./history/facts.js";
export type { Watched } from "./history/told.js";
export { ENGLISH, type Parts, type SumWords, type Words } from "./history/words.js";

/** What a page without a DOM, as on a server, has instead of an element. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? class {};

/**
 * Lists what clients have reported, what that cost, and what it means.
 *
 * Attributes: `revocable` shows a button that revokes consent; `level` is that of the
 * heading, 2 unless it is given. Once consent was revoked by the button, the element is told so
 * by the event `hushbin-revoke`, which bubbles, with the `client` in its `detail`: the page
 * has to remember it.
 *
 * @example
 * ```ts
 * import "hushbin/history";
 *
 * const history = document.createElement("hushbin-history");
 * history.client = client;
 * document.body.append(history);
 * ```
 */
export class HushbinHistory extends Base {
  /** @internal */
  static readonly observedAttributes = ["level", "revocable"];

  #clients: readonly Watched[] = [];
  #words: Partial<Words> = {};
  #body: HTMLElement | undefined;
  #stops: (() => void)[] = [];

  /** The client of which it tells, the first of several. */
  get client(): Watched | undefined {
    return this.#clients[0];
  }

  set client(client: Watched | null | undefined) {
    this.clients = client ? [client] : [];
  }

  /** The clients of which it tells. */
  get clients(): readonly Watched[] {
    return this.#clients;
  }

  set clients(clients: readonly Watched[]) {
    this.#clients = [...clients];
    this.#render();
  }

  /** What it says instead of its English, all or some. */
  get words(): Partial<Words> {
    return this.#words;
  }

  set words(words: Partial<Words>) {
    this.#words = words;
    this.#render();
  }

  /** @internal */
  connectedCallback(): void {
    if (this.#body === undefined) {
      this.#body = el("div", "body");
      const root = this.attachShadow({ mode: "open" });
      root.append(this.#body);
      styled(root, this.nonce ?? "");
    }
    // What a page set before the element was defined hides what sets it.
    for (const name of ["client", "clients", "words"] as const) {
      if (Object.hasOwn(this, name)) {
        const value = this[name];
        Reflect.deleteProperty(this, name);
        Reflect.set(this, name, value);
      }
    }
    this.#render();
  }

  /** @internal */
  disconnectedCallback(): void {
    this.#stops.splice(0).forEach((stop) => void stop());
  }

  /** @internal */
  attributeChangedCallback(): void {
    this.#render();
  }

  #render(): void {
    const body = this.#body;
    if (body === undefined || !this.isConnected) {
      return;
    }
    this.disconnectedCallback();
    const words = { ...ENGLISH, ...this.#words };
    const level = Math.min(Math.max(Number(this.getAttribute("level")) || 2, 1), 5);
    const title = el(`h${level}` as "h2", "title", words.title);
    const views = this.#clients.map((client) => {
      const view = new View(client, {
        words,
        level: words.title === "" ? level : level + 1,
        revocable: this.hasAttribute("revocable"),
        onRevoked: () => this.#tellRevoked(client),
      });
      const refresh = () => void view.refresh();
      this.#stops.push(client.watch(refresh));
      // Other tabs may have reported meanwhile.
      document.addEventListener("visibilitychange", refresh);
      this.#stops.push(() => document.removeEventListener("visibilitychange", refresh));
      refresh();
      return view;
    });
    body.lang = words.lang;
    body.replaceChildren(
      ...(words.title === "" ? [] : [title]),
      ...views.map((view) => view.section),
    );
  }

  #tellRevoked(client: Watched): void {
    const init = { bubbles: true, composed: true, detail: { client } };
    this.dispatchEvent(new CustomEvent("hushbin-revoke", init));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "hushbin-history": HushbinHistory;
  }
  interface HTMLElementEventMap {
    "hushbin-revoke": CustomEvent<{ readonly client: Watched }>;
  }
}

const NAME = "hushbin-history";

if (globalThis.customElements !== undefined && customElements.get(NAME) === undefined) {
  customElements.define(NAME, HushbinHistory);
}
