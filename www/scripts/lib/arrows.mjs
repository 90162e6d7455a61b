// Circles and floors in pictures of who imports whom.

/** @typedef {import("./rust-imports.mjs").Arrow} Arrow */

/** The entry of `folder` that a file is or lies in; undefined when it lies elsewhere. */
function entry(folder, file) {
  if (!file.startsWith(`${folder}/`)) {
    return undefined;
  }
  const name = file.slice(folder.length + 1).split("/")[0] ?? "";
  // `a.rs` beside `a/` is one with it.
  return name.replace(/\.rs$/, "");
}

/** Every folder at or below `root` that the arrows touch. */
function folders(root, arrows) {
  const found = new Set([root]);
  for (const { from, to } of arrows) {
    for (const file of [from, to]) {
      const parts = file.split("/");
      for (let length = root.split("/").length; length < parts.length; length += 1) {
        found.add(parts.slice(0, length).join("/"));
      }
    }
  }
  return [...found].sort();
}

/**
 * A folder's picture: its files and folders, and for each the first arrow to
 * every other.
 *
 * @param {string} folder
 * @param {readonly Arrow[]} arrows
 * @returns {Map<string, Map<string, Arrow>>}
 */
function picture(folder, arrows) {
  const drawn = new Map();
  for (const arrow of arrows) {
    const [from, to] = [entry(folder, arrow.from), entry(folder, arrow.to)];
    if (from !== undefined && to !== undefined && from !== to) {
      const out = drawn.get(from) ?? new Map();
      drawn.set(from, out);
      if (!out.has(to)) {
        out.set(to, arrow);
      }
    }
  }
  return drawn;
}

/** The shortest way from `start` back to itself, or undefined. */
function shortestCircle(drawn, start) {
  const queue = [[start]];
  const seen = new Set();
  for (const way of queue) {
    for (const next of drawn.get(way[way.length - 1])?.keys() ?? []) {
      if (next === start) {
        return way;
      }
      if (!seen.has(next)) {
        seen.add(next);
        queue.push([...way, next]);
      }
    }
  }
  return undefined;
}

const describe = ({ from, to, line, name }) => `${from}:${line} → ${to} (${name})`;

/**
 * The circles among the entries of each folder at or below `root`: one of the
 * shortest for every entry that lies on one, each once. A circle of files shows
 * in the folder that holds them all.
 *
 * @param {string} root
 * @param {readonly Arrow[]} arrows
 * @returns {string[]}
 */
export function circles(root, arrows) {
  const found = new Map();
  for (const folder of folders(root, arrows)) {
    const drawn = picture(folder, arrows);
    for (const start of [...drawn.keys()].sort()) {
      const way = shortestCircle(drawn, start);
      const members = `${folder} ${[...(way ?? [])].sort()}`;
      if (way !== undefined && !found.has(members)) {
        const steps = [...way, start].slice(1).map((to, at) => {
          const arrow = drawn.get(way[at] ?? "")?.get(to);
          return arrow === undefined ? "" : `\n    ${describe(arrow)}`;
        });
        const title = `circle in ${folder}: ${[...way, start].join(" → ")}`;
        found.set(members, title + steps.join(""));
      }
    }
  }
  return [...found.values()];
}

/**
 * Arrows that point up, and entries of `root` that stand on no floor.
 *
 * @param {string} root
 * @param {readonly (readonly string[])[]} floors the entries of each, the lowest first
 * @param {Iterable<string>} files
 * @param {readonly Arrow[]} arrows
 * @returns {string[]}
 */
export function upward(root, floors, files, arrows) {
  const height = new Map(floors.flatMap((names, floor) => names.map((name) => [name, floor])));
  const complaints = [];
  for (const name of new Set([...files].map((file) => entry(root, file)))) {
    if (!height.has(name)) {
      complaints.push(`${root}/${name} stands on no floor: give it one in check-arrows.mjs`);
    }
  }
  for (const arrow of arrows) {
    const [from, to] = [height.get(entry(root, arrow.from)), height.get(entry(root, arrow.to))];
    if (from !== undefined && to !== undefined && from < to) {
      complaints.push(`points up: ${describe(arrow)}`);
    }
  }
  return complaints;
}

/**
 * Arrows from a file up to the file of a folder that holds it (`mod.rs`, `lib.rs`), one for each
 * pair of files: what a folder's files share lies below them, in a file of its own.
 *
 * @param {readonly Arrow[]} arrows
 * @returns {Arrow[]}
 */
export function toParents(arrows) {
  const found = new Map();
  for (const arrow of arrows) {
    const { from, to, through = to } = arrow;
    const folder = through.match(/^(.*\/)(?:mod|lib)\.rs$/)?.[1] ?? through.replace(/\.rs$/, "/");
    if (from.startsWith(folder) && !found.has(`${from} ${through}`)) {
      found.set(`${from} ${through}`, arrow);
    }
  }
  return [...found.values()];
}
