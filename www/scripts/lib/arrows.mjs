// Cycles and layers in graphs of imports.

/** @typedef {import("./rust-imports.mjs").Arrow} Arrow */

/**
 * Returns the name of the file or folder directly in `folder` that is or contains the given file.
 * Undefined if the file is not below `folder`.
 */
function entry(folder, file) {
  if (!file.startsWith(`${folder}/`)) {
    return undefined;
  }
  const name = file.slice(folder.length + 1).split("/")[0] ?? "";
  // `a.rs` and `a/` count as one entry.
  return name.replace(/\.rs$/, "");
}

/** Returns every folder at or below `root` that contains an end of an arrow (import). */
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
 * Returns a folder's graph of imports. The nodes are its files and folders (entries). For each pair
 * of entries, the graph keeps the first arrow.
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

/** Returns the shortest cycle through `start`, or undefined. Breadth-first search. */
function shortestCircle(drawn, start) {
  const queue = [[start]];
  const seen = new Set();
  // The loop also visits paths that are appended while it runs.
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
 * Returns the cycles (circles) among the entries of each folder at or below `root`. For every entry
 * on a cycle, it finds one of the shortest cycles through the entry. It lists each cycle once. A
 * cycle of files shows up in the folder that contains them all.
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
 * Returns complaints about arrows that lead to a higher floor, and about entries of `root` that are
 * on no floor.
 *
 * @param {string} root
 * @param {readonly (readonly string[])[]} floors the entries of each floor, the lowest first
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
 * Returns arrows from a file up to the file (`mod.rs`, `lib.rs`) of an enclosing folder, one for
 * each pair of files. Code that a folder's files share belongs below them, in a separate file.
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
