// Python packages for the example notebook, with versions pinned by its test. They take half a
// gigabyte, outside of the project.

import { join } from "node:path";
import { installPackages } from "./debian.mjs";
import { installedFolder, installOnce } from "./installed.mjs";
import { ROOT } from "./paths.mjs";
import { captureOutput, ExplainedError, run } from "./run.mjs";

const REQUIREMENTS_FILE = join(ROOT, "tests/js/examples/requirements.txt");

/**
 * Returns the folder of the Python packages. Each state of the list of packages has a separate
 * folder.
 */
export const notebookToolsFolder = () => installedFolder("notebook", REQUIREMENTS_FILE);

export const installNotebookTools = () =>
  installOnce(notebookToolsFolder(), async (made) => {
    const pip = await captureOutput("python3", ["-m", "pip", "--version"]);
    await installPackages({ "python3-pip": () => pip });
    const options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", made];
    try {
      await run("python3", [
        "-m",
        "pip",
        "install",
        ...options,
        "--requirement",
        REQUIREMENTS_FILE,
      ]);
    } catch (cause) {
      const python = await captureOutput("python3", ["--version"]);
      throw new ExplainedError(
        `${REQUIREMENTS_FILE} was not installed by ${python}; it takes Python 3.11 or later`,
        {
          cause,
        },
      );
    }
  });
