// Reader of data sets. The first line of a file has "people items max". Each further line has
// "person item value".

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { ExplainedError } from "./run.mjs";

/**
 * Reads a data set. People without lines have an empty input.
 *
 * @param {string} file
 * @param {number | undefined} people number of people to read, from the first on; all if undefined
 * @returns {Promise<{ items: number, inputs: [item: number, value: number][][] }>}
 */
export async function readDataSet(file, people) {
  const lines = createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  /** @type {[number, number][][]} */
  let inputs = [];
  let items = 0;
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === "") {
      continue;
    }
    const numbers = text.trim().split(/\s+/).map(Number);
    const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = numbers;
    if (numbers.length !== 3 || numbers.some(Number.isNaN)) {
      throw new ExplainedError(
        `${file}:${line}: expected three numbers, got ${JSON.stringify(text)}`,
      );
    }
    if (line === 1) {
      if (people !== undefined && people > first) {
        throw new ExplainedError(`${file} has ${first} people, ${people} were asked for`);
      }
      items = second;
      inputs = Array.from({ length: people ?? first }, () => []);
    } else if (second >= items) {
      throw new ExplainedError(
        `${file}:${line}: item ${second}, the first line says ${items} items`,
      );
    } else {
      inputs[first]?.push([second, third]);
    }
  }
  return { items, inputs };
}
