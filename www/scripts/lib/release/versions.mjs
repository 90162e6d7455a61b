// One version everywhere: of the crates, of what they ask of each other, and of the package.

/**
 * @typedef {object} Crate as `cargo metadata` has it
 * @property {string} name
 * @property {string} version
 * @property {readonly string[] | null} publish null where every registry may have it
 * @property {string} manifest_path
 * @property {readonly { name: string, req: string, kind: string | null, path?: string }[]} dependencies
 */

/** Whether the crate is for others: `publish = false` is a list of no registry. */
export const isPublished = (crate) => crate.publish === null;

/**
 * Crates in the order in which a registry takes them: what others need comes first.
 *
 * @param {readonly Crate[]} crates
 * @returns {Crate[]}
 */
export function inOrder(crates) {
  const published = crates.filter(isPublished).sort((a, b) => (a.name < b.name ? -1 : 1));
  /** @type {Set<Crate>} */
  const ordered = new Set();
  const visit = (crate) => {
    for (const { name, kind } of crate.dependencies) {
      const needed = published.find((other) => other.name === name);
      // Cargo leaves a development dependency out where it has a path alone.
      if (needed !== undefined && needed !== crate && kind !== "dev") {
        visit(needed);
      }
    }
    ordered.add(crate);
  };
  published.forEach(visit);
  return [...ordered];
}

/**
 * What does not agree with the version.
 *
 * @param {string} version
 * @param {readonly Crate[]} crates
 * @param {Readonly<Record<string, string | undefined>>} stated by the file that states it
 * @returns {string[]}
 */
export function disagreements(version, crates, stated) {
  const names = new Set(crates.map(({ name }) => name));
  const requirements = crates.filter(isPublished).flatMap((crate) =>
    crate.dependencies
      .filter(({ name, kind }) => names.has(name) && kind !== "dev")
      .filter(({ req }) => req !== `^${version}`)
      .map(({ name, req }) => `${crate.name} asks for ${name} ${req}, not ^${version}`),
  );
  return [
    ...Object.entries(stated)
      .filter(([, found]) => found !== version)
      .map(([file, found]) => `${file} has version ${found}, not ${version}`),
    ...crates
      .filter((crate) => crate.version !== version)
      .map((crate) => `${crate.name} has version ${crate.version}, not ${version}`),
    ...requirements,
  ];
}
