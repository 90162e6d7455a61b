/** Accessibility violations that axe finds in a page, and whether a page fits its screen. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Rules about colours. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Returns each violation by its rule, with the first element that breaks it. `colours` asks only
 * about colours, which is all that another colour scheme of the same page changes.
 */
export async function violations(page: Page, { colours = false } = {}): Promise<string[]> {
  await page.evaluate(AXE);
  const options: RunOptions = {
    // What follows no rule is all that is described.
    resultTypes: ["violations"],
    ...(colours ? { runOnly: { type: "rule", values: COLOUR_RULES } } : {}),
  };
  const found = await page.evaluate(
    (options) =>
      (
        globalThis as unknown as {
          axe: { run(root: Document, options: RunOptions): Promise<AxeResults> };
        }
      ).axe.run(document, options),
    options,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/**
 * Expects that a page is accessible and fits, on light and dark ground, as wide as it is and as
 * narrow as this. The page returns to its width. HUSHBIN_SHOTS names a folder for pictures.
 */
export async function expectForEverybody(page: Page, narrow: number, shot?: string): Promise<void> {
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  const shots = process.env.HUSHBIN_SHOTS;
  for (const width of [size.width, narrow]) {
    await page.setViewportSize({ ...size, width });
    // Plots are drawn anew before the next frame, for their new width.
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await violations(page, { colours: colorScheme === "dark" });
      expect(found, `${colorScheme}, ${width} wide`).toEqual([]);
      if (shots && shot !== undefined) {
        const path = `${shots}/${shot}-${colorScheme}-${width}.png`;
        await page.screenshot({ path, fullPage: true });
      }
    }
  }
  await page.setViewportSize(size);
}
