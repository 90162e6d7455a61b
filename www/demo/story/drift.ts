// The decorative picture below the title: scattered reports that settle into columns. Math.random
// is good enough for decoration.

import { setAttributes, svg } from "../shared/dom.js";

const WIDTH = 1120;
const HEIGHT = 150;
const PITCH = 10;

/**
 * Draws dots that are scattered on the left and form columns on the right. `shares` has the heights
 * of the columns.
 */
export function drawDecorativePicture(picture: SVGSVGElement, shares: readonly number[]): void {
  const dots: SVGCircleElement[] = [];
  const settled = WIDTH * 0.6;
  const band = (WIDTH - settled) / shares.length;
  shares.forEach((share, index) => {
    const tall = Math.round(share * 14);
    for (let level = 0; level < tall; level++) {
      for (const column of [0, 1, 2]) {
        const x = settled + index * band + 12 + column * PITCH;
        dots.push(createDot(x, HEIGHT - 6 - level * PITCH, 2.6, "settled"));
      }
    }
  });
  for (let i = 0; i < 300; i++) {
    // Dots get denser and lower towards the columns.
    const along = Math.random() ** 0.8;
    const reach = HEIGHT - 12 - along ** 3 * 50;
    const y = HEIGHT - 6 - Math.random() * reach;
    dots.push(createDot(6 + along * (settled - 16), y, 1.2 + along * 1.2, "scattered"));
  }
  const you = { x: WIDTH * 0.31, y: HEIGHT * 0.42 };
  const clear = dots.filter((made) => {
    const [x, y] = [Number(made.getAttribute("cx")), Number(made.getAttribute("cy"))];
    return x < you.x - 12 || x > you.x + 44 || Math.abs(y - you.y) > 14;
  });
  picture.replaceChildren(
    ...clear,
    createDot(you.x, you.y, 5, "you"),
    svg("text", { x: you.x + 11, y: you.y + 5 }, "you?"),
  );
  setAttributes(picture, {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "xMidYMid meet",
  });
}

function createDot(cx: number, cy: number, r: number, kind: string): SVGCircleElement {
  return svg("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: r.toFixed(1), class: kind });
}
