// Pictures in the book's chapters. A chapter links to the light picture. The dark picture is in the
// same folder.

import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { ROOT } from "../paths.mjs";
import { PICTURE_PIXEL_RATIO } from "./crowds.mjs";
import { CHAPTERS_DIR } from "./links.mjs";

const PICTURE = /^!\[(.*)\]\((\S+)-light\.png\)$/gm;

/** Reads the width and the height of a picture from the header of its PNG file. */
function sizeOf(file) {
  const bytes = readFileSync(file);
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/**
 * Replaces each picture of a chapter with its light and its dark version.
 *
 * @param {string} text
 * @param {string} chapter
 */
export function withLightAndDarkPictures(text, chapter) {
  return text.replace(PICTURE, (_, words, name) => {
    const grounds = ["light", "dark"].map((ground) => {
      const source = `${name}-${ground}.png`;
      const file = join(ROOT, CHAPTERS_DIR, posix.dirname(chapter), source);
      const { width, height } = sizeOf(file);
      const size = `width="${width / PICTURE_PIXEL_RATIO}" height="${height / PICTURE_PIXEL_RATIO}"`;
      return `<img class="picture-${ground}" src="${source}" ${size} alt="${words}">`;
    });
    return `<p>${grounds.join("")}</p>`;
  });
}
