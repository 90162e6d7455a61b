/** A person who opens an example in a separate browser. */

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { violations } from "../e2e/axe.js";
import { newContext } from "../e2e/harness.js";

export class Person {
  /** Requests to the collector. */
  readonly sent: string[] = [];
  /** Errors of the page. */
  readonly errors: string[] = [];
  readonly page: Page;
  readonly #close: () => Promise<void>;

  /**
   * @param collector URL to which the page reports
   * @param close closes the browser
   */
  constructor(page: Page, collector: string, close: () => Promise<void>) {
    this.page = page;
    this.#close = close;
    page.on("pageerror", (error) => this.errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") this.errors.push(message.text());
    });
    page.on("request", (request) => {
      if (request.url().startsWith(collector)) this.sent.push(request.url());
    });
  }

  /** @param collector URL to which the page reports */
  static async visit(url: string, collector: string): Promise<Person> {
    const browser = await launchChromium();
    const context = await newContext(browser);
    const person = new Person(await context.newPage(), collector, () => browser.close());
    await person.page.goto(url);
    return person;
  }

  /** Saves a form, and checks its message. */
  async saves(answer: string): Promise<void> {
    const output = this.page.locator("output");
    await output.evaluate((element: HTMLOutputElement) => {
      element.value = "";
    });
    await this.page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => output.textContent()).toBe(answer);
  }

  /** Returns the text of `<hushbin-history>`. */
  history(): Promise<string | null | undefined> {
    return this.page
      .locator("hushbin-history")
      .evaluate(({ shadowRoot }) => shadowRoot?.textContent);
  }

  async expectAccessible(): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await this.page.emulateMedia({ colorScheme });
      expect(await violations(this.page), colorScheme).toEqual([]);
    }
  }

  async leave(): Promise<void> {
    await this.#close();
    expect(this.errors).toEqual([]);
  }
}
