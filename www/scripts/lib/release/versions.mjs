// Checks that all crates, the dependencies between them, and the npm package have the same version.

/**
 * @typedef {object} Crate in the form of `cargo metadata`
 * @property {string} name
 * @property {string} version
 * @property {readonly string[] | null} publish null if every registry may have it
 * @property {string} manifest_path
 * @property {readonly { name: string, req: string, kind: string | null, path?: string }[]} dependencies
 */

/**
 * Returns whether a crate is published. cargo represents `publish = false` by an empty list of
 * registries.
 */
export const isPublishable = (crate) => crate.publish === null;

/**
 * Sorts the crates that are published so that each comes after its dependencies.
 *
 * @param {readonly Crate[]} crates
 * @returns {Crate[]}
 */
export function inPublishOrder(crates) {
  const published = crates.filter(isPublishable).sort((a, b) => (a.name < b.name ? -1 : 1));
  /** @type {Set<Crate>} */
  const ordered = new Set();
  const visit = (crate) => {
    for (const { name, kind } of crate.dependencies) {
      const needed = published.find((other) => other.name === name);
      // When publishing, cargo drops development dependencies that only have a path.
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
 * Returns the places whose version differs from the given version.
 *
 * @param {string} version
 * @param {readonly Crate[]} crates
 * @param {Readonly<Record<string, string | undefined>>} stated by the file that states it
 * @returns {string[]}
 */
export function versionMismatches(version, crates, stated) {
  const names = new Set(crates.map(({ name }) => name));
  const requirements = crates.filter(isPublishable).flatMap((crate) =>
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
