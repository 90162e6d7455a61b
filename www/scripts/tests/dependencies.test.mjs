// Tests that the check of Node versions finds a package that refuses one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { packagesRefusing } from "../check-dependencies.mjs";

test("a package that refuses the version is named, and others are not", () => {
  const packages = {
    "": { version: "1.0.0", engines: { node: ">=20" } },
    "node_modules/silent": { version: "1.0.0" },
    "node_modules/old": { version: "1.0.0", engines: { node: "^18 || ^20.19.0" } },
    "node_modules/new": { version: "15.1.0", engines: { node: ">=22.12.0" } },
  };
  assert.deepEqual(packagesRefusing({ packages }, "20.19.0"), [
    "node_modules/new 15.1.0 asks for Node >=22.12.0",
  ]);
});
