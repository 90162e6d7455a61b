/**
 * Custom element `<hushbin-history>`. It shows people the reports of this browser, how they are
 * protected, and how much ε they cost.
 *
 * Importing this module defines the element. Where there are no custom elements, for example on a
 * server, the import does nothing.
 *
 * @packageDocumentation
 */

import type { HistoryClient } from "./history/client-texts.js";
import { el } from "./history/dom.js";
import { addStyle } from "./history/style.js";
import { ClientView } from "./history/view.js";
import { ENGLISH, type Words } from "./history/words.js";

export type { HistoryClient } from "./history/client-texts.js";
export type { Protection } from "./history/facts.js";
export { ENGLISH, type SumWords, type UploadPartNames, type Words } from "./history/words.js";

/**
 * Base class of the element. It is an empty class where there is no DOM, for example on a server.
 */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? class {};

/**
 * Element that lists the reports of clients and explains the ε that they cost.
 *
 * Attributes: `revocable` shows a button that revokes consent. `level` is the level of the heading
 * (default 2). When a person revokes consent by the button, the element fires the event
 * `hushbin-revoke`. It bubbles and has the `client` in its `detail`. The page has to remember this
 * choice.
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
export class HushbinHistoryElement extends Base {
  /** @internal */
  static readonly observedAttributes = ["level", "revocable"];

  #clients: readonly HistoryClient[] = [];
  #words: Partial<Words> = {};
  #body: HTMLElement | undefined;
  #stopFunctions: (() => void)[] = [];

  /** Client whose reports are shown. If there are several, it is the first. */
  get client(): HistoryClient | undefined {
    return this.#clients[0];
  }

  set client(client: HistoryClient | null | undefined) {
    this.clients = client ? [client] : [];
  }

  /** Clients whose reports are shown. */
  get clients(): readonly HistoryClient[] {
    return this.#clients;
  }

  set clients(clients: readonly HistoryClient[]) {
    this.#clients = [...clients];
    this.#render();
  }

  /** Texts that replace some or all of the English texts. */
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
      addStyle(root, this.nonce ?? "");
    }
    // A property set before the element was defined hides the accessor of the same name.
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
    this.#stopFunctions.splice(0).forEach((stop) => void stop());
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
      const view = new ClientView(client, {
        words,
        level: words.title === "" ? level : level + 1,
        revocable: this.hasAttribute("revocable"),
        onRevoked: () => this.#dispatchRevoked(client),
      });
      const refresh = () => void view.refresh();
      this.#stopFunctions.push(client.watch(refresh));
      // Other tabs may have reported in the meantime.
      document.addEventListener("visibilitychange", refresh);
      this.#stopFunctions.push(() => document.removeEventListener("visibilitychange", refresh));
      refresh();
      return view;
    });
    body.lang = words.lang;
    body.replaceChildren(
      ...(words.title === "" ? [] : [title]),
      ...views.map((view) => view.section),
    );
  }

  #dispatchRevoked(client: HistoryClient): void {
    const init = { bubbles: true, composed: true, detail: { client } };
    this.dispatchEvent(new CustomEvent("hushbin-revoke", init));
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "hushbin-history": HushbinHistoryElement;
  }
  interface HTMLElementEventMap {
    "hushbin-revoke": CustomEvent<{ readonly client: HistoryClient }>;
  }
}

const ELEMENT_NAME = "hushbin-history";

if (globalThis.customElements !== undefined && customElements.get(ELEMENT_NAME) === undefined) {
  customElements.define(ELEMENT_NAME, HushbinHistoryElement);
}
