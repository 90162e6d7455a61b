// Questions at the terminal, and lines of text that explain them.

import { createInterface, type Interface } from "node:readline/promises";
import * as util from "node:util";
import { InputError } from "./input.js";

/** Input that ended before all questions were answered. */
export class Interrupted extends Error {}

/** Formats a heading. Old versions of Node, files and pipes get plain text. */
export const bold = (text: string) =>
  process.stdout.hasColors?.() ? (util.styleText?.("bold", text) ?? text) : text;

export const print = (text: string) => void process.stdout.write(`${text}\n`);

/** Terminal that asks one question at a time. */
export class Terminal {
  /** True if a person can answer. */
  readonly isInteractive = process.stdin.isTTY;
  #interface: Interface | undefined;
  #lines: AsyncIterator<string> | undefined;

  /** Asks until the answer can be parsed, and returns the parsed answer. */
  async ask<T>(question: string, parse: (answer: string) => T): Promise<T> {
    this.#interface ??= createInterface({ input: process.stdin, output: process.stdout });
    // The iterator keeps lines that were pasted before the terminal asks for them.
    this.#lines ??= this.#interface[Symbol.asyncIterator]();
    this.#interface.setPrompt(`   ${question}: `);
    for (;;) {
      this.#interface.prompt();
      const { value, done } = await this.#lines.next();
      if (done) {
        throw new Interrupted();
      }
      const parsed = explainErrors(() => parse(value.trim()));
      if (parsed !== undefined) {
        return parsed.value;
      }
    }
  }

  close() {
    this.#interface?.close();
  }
}

/**
 * Returns the value of a function. If it throws an {@link InputError}, prints the error and returns
 * undefined.
 */
export function explainErrors<T>(work: () => T): { readonly value: T } | undefined {
  try {
    return { value: work() };
  } catch (error) {
    if (!(error instanceof InputError)) {
      throw error;
    }
    print(`   ${error.message}`);
    return undefined;
  }
}
