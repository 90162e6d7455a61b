// A bill of materials, CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/
//
// Written here and not by cargo-cyclonedx, which names packages by where they lie on the disk,
// knows nothing of npm, and takes the whole workspace for what is linked.

import { key } from "./components.mjs";

/** @typedef {import("./components.mjs").Component} Component */

/** @param {string} name */
const encoded = (name) => name.replace("@", "%40");
/** @param {Component} component */
const purl = ({ registry, name, version }) => `pkg:${registry}/${encoded(name)}@${version}`;
/** @param {Component} component */
const reference = (component) => (component.registry ? purl(component) : key(component));

/** An expression where there is a choice or a sum, else an id. */
const licences = (licence) =>
  /[ (]/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }];

/** @param {Component} component */
function described(component, type = "library") {
  const { name, version, registry, licence, sha256, sha512 } = component;
  const hashes = [
    ...(sha256 === undefined ? [] : [{ alg: "SHA-256", content: sha256 }]),
    ...(sha512 === undefined ? [] : [{ alg: "SHA-512", content: sha512 }]),
  ];
  return {
    type,
    "bom-ref": reference(component),
    name,
    ...(version === undefined ? {} : { version }),
    ...(hashes.length === 0 ? {} : { hashes }),
    licenses: licences(licence),
    ...(registry === undefined ? {} : { purl: purl(component) }),
  };
}

/**
 * @param {Component} root what the bill is of
 * @param {"application" | "library"} type
 * @param {readonly Component[]} components of which it is made
 * @param {number} time of the commit, in seconds since 1970
 * @returns {string} the same for the same components: without a serial number, which would be drawn
 */
export function billOfMaterials(root, type, components, time) {
  const references = new Map([root, ...components].map((one) => [key(one), reference(one)]));
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString().replace(".000", ""),
      component: described(root, type),
    },
    components: components.map((component) => described(component)),
    dependencies: [root, ...components].map((component) => ({
      ref: reference(component),
      dependsOn: component.needs.map((own) => references.get(own)).sort(),
    })),
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}
