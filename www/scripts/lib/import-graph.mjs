// Finds cycles and wrong directions in graphs of imports.

/** @typedef {import("./rust-imports.mjs").Arrow} Arrow */

/**
 * Returns the name of an entry of `folder`: the file or folder directly in it that is or contains
 * this file. Returns undefined if the file is not below `folder`.
 */
function directChildName(folder, file) {
  if (!file.startsWith(`${folder}/`)) {
    return undefined;
  }
  const name = file.slice(folder.length + 1).split("/")[0] ?? "";
  // `a.rs` and `a/` count as one entry.
  return name.replace(/\.rs$/, "");
}

/**
 * Returns all folders at or below `root` that contain an end of an arrow: a file that imports, or a
 * file that is imported.
 */
function foldersWithImports(root, arrows) {
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
 * Returns the import graph of a folder. Its nodes are the entries: the files and folders directly
 * in the folder. For each pair of entries, the graph keeps the first arrow.
 *
 * @param {string} folder
 * @param {readonly Arrow[]} arrows
 * @returns {Map<string, Map<string, Arrow>>}
 */
function folderImportGraph(folder, arrows) {
  const drawn = new Map();
  for (const arrow of arrows) {
    const [from, to] = [directChildName(folder, arrow.from), directChildName(folder, arrow.to)];
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

/**
 * Returns the shortest cycle through `start`, or undefined if there is none, by breadth-first
 * search.
 */
function shortestCycleThrough(drawn, start) {
  const queue = [[start]];
  const seen = new Set();
  // The loop also visits paths that are appended while it runs.
  for (const path of queue) {
    for (const next of drawn.get(path[path.length - 1])?.keys() ?? []) {
      if (next === start) {
        return path;
      }
      if (!seen.has(next)) {
        seen.add(next);
        queue.push([...path, next]);
      }
    }
  }
  return undefined;
}

const describe = ({ from, to, line, name }) => `${from}:${line} → ${to} (${name})`;

/**
 * Returns the cycles in the import graph of each folder at or below `root`. For every entry on a
 * cycle, it finds one of the shortest cycles through this entry. Each cycle is listed once. A cycle
 * of files appears in the innermost folder that contains them all.
 *
 * @param {string} root
 * @param {readonly Arrow[]} arrows
 * @returns {string[]}
 */
export function importCycles(root, arrows) {
  const found = new Map();
  for (const folder of foldersWithImports(root, arrows)) {
    const drawn = folderImportGraph(folder, arrows);
    for (const start of [...drawn.keys()].sort()) {
      const path = shortestCycleThrough(drawn, start);
      const members = `${folder} ${[...(path ?? [])].sort()}`;
      if (path !== undefined && !found.has(members)) {
        const steps = [...path, start].slice(1).map((to, at) => {
          const arrow = drawn.get(path[at] ?? "")?.get(to);
          return arrow === undefined ? "" : `\n    ${describe(arrow)}`;
        });
        const title = `cycle in ${folder}: ${[...path, start].join(" → ")}`;
        found.set(members, title + steps.join(""));
      }
    }
  }
  return [...found.values()];
}

/**
 * Returns complaints about arrows that lead to a higher layer, and about entries of `root` that
 * belong to no layer.
 *
 * @param {string} root
 * @param {readonly (readonly string[])[]} layers the entries of each floor, the lowest first
 * @param {Iterable<string>} files
 * @param {readonly Arrow[]} arrows
 * @returns {string[]}
 */
export function layerViolations(root, layers, files, arrows) {
  const height = new Map(layers.flatMap((names, layer) => names.map((name) => [name, layer])));
  const complaints = [];
  for (const name of new Set([...files].map((file) => directChildName(root, file)))) {
    if (!height.has(name)) {
      complaints.push(`${root}/${name} is in no layer: give it one in check-imports.mjs`);
    }
  }
  for (const arrow of arrows) {
    const [from, to] = [
      height.get(directChildName(root, arrow.from)),
      height.get(directChildName(root, arrow.to)),
    ];
    if (from !== undefined && to !== undefined && from < to) {
      complaints.push(`points up: ${describe(arrow)}`);
    }
  }
  return complaints;
}

/**
 * Returns the arrows from a file up to the `mod.rs` or `lib.rs` of an enclosing folder, one for
 * each pair of files. Code that the files of a folder share belongs in a separate file below the
 * folder.
 *
 * @param {readonly Arrow[]} arrows
 * @returns {Arrow[]}
 */
export function importsOfParents(arrows) {
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
