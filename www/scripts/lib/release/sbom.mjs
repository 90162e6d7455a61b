// Makes a bill of materials in the format CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/
//
// cargo-cyclonedx is not used. It names packages by folder, ignores npm, and treats the whole
// workspace as linked.

import { componentKey } from "./components.mjs";

/** @typedef {import("./components.mjs").Component} Component */

/** @param {string} name */
const encoded = (name) => name.replace("@", "%40");
/** @param {Component} component */
const purl = ({ registry, name, version }) => `pkg:${registry}/${encoded(name)}@${version}`;
/** @param {Component} component */
const reference = (component) => (component.registry ? purl(component) : componentKey(component));

/**
 * Returns a licence as CycloneDX states it: as an expression if licences are combined, otherwise as
 * an id.
 */
const licences = (licence) =>
  /[ (]/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }];

/** @param {Component} component */
function cyclonedxComponent(component, type = "library") {
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
 * Returns the bill of materials of a program or package.
 *
 * @param {Component} root the subject of the bill
 * @param {"application" | "library"} type
 * @param {readonly Component[]} components that it contains
 * @param {number} time of the commit, in seconds since 1970
 * @returns {string} deterministic text, without the usual random serial number
 */
export function billOfMaterials(root, type, components, time) {
  const references = new Map(
    [root, ...components].map((one) => [componentKey(one), reference(one)]),
  );
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString().replace(".000", ""),
      component: cyclonedxComponent(root, type),
    },
    components: components.map((component) => cyclonedxComponent(component)),
    dependencies: [root, ...components].map((component) => ({
      ref: reference(component),
      dependsOn: component.needs.map((own) => references.get(own)).sort(),
    })),
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}
