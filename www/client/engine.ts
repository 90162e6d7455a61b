/**
 * Part of the client that makes and sends reports. It is loaded once consent and budget allow a
 * report, or if reports of earlier pages wait to be sent.
 */

import { createPageInjector } from "./injected-page.js";
import { loadModule } from "./module.js";
import { createRandomizer } from "./randomizer.js";
import { openSession } from "./session.js";

export const inject = createPageInjector({ createRandomizer, loadModule, openSession });
