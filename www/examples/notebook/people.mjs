/**
 * Simulated people with known answers, in place of real ones. Within half a year, light themes give
 * way to dark ones.
 *
 *   node people.mjs before
 *   node people.mjs after
 */

import { createRandomizer } from "hushbin";

const PEOPLE = 20_000;
/** Number of people per hundred. */
const THEMES = {
  before: { system: 50, light: 30, dark: 19, contrast: 1 },
  after: { system: 50, light: 22, dark: 27, contrast: 1 },
};

const url = "http://127.0.0.1:8080/tasks/survey";
const { task } = await (await fetch(url)).json();
const randomizer = await createRandomizer({ task });

const hundred = Object.entries(THEMES[process.argv[2]]).flatMap(([theme, many]) =>
  Array(many).fill(theme),
);
for (let from = 0; from < PEOPLE; from += 200) {
  const reports = Array.from({ length: 200 }, (_, index) =>
    randomizer.randomize({ theme: hundred[(from + index) % 100], beta: index % 10 === 0 }),
  );
  // One upload of many reports, at most 256. In real life each person sends a separate one.
  const bytes = new Uint8Array(await new Blob(reports).arrayBuffer());
  const body = randomizer.upload(bytes, reports.length);
  const { status } = await fetch(`${url}/reports`, { method: "POST", body });
  if (status !== 201) {
    throw new Error(`the collector answered ${status}`);
  }
}
