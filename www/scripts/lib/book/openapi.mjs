// Makes the book's page about the collector's HTTP interface from its OpenAPI document.

const METHODS = ["get", "post", "put", "patch", "delete"];

/** Returns the object to which a reference in the OpenAPI document points. */
function resolveReference(document, value) {
  const { $ref } = value;
  if ($ref === undefined) {
    return value;
  }
  const path = $ref.slice(2).split("/");
  const found = path.reduce(
    (inner, part) => inner?.[part.replaceAll("~1", "/").replaceAll("~0", "~")],
    document,
  );
  return resolveReference(document, found);
}

const cell = (text = "") => text.replaceAll("\n", " ").replaceAll("|", "\\|");

function typeOf(document, schema = {}) {
  const { type, enum: names, items, oneOf, $ref } = schema;
  if ($ref !== undefined) {
    return typeOf(document, resolveReference(document, schema));
  }
  if (names !== undefined) {
    return names.map((name) => `\`${name}\``).join(", ");
  }
  if (oneOf !== undefined) {
    return oneOf.map((one) => typeOf(document, one)).join(" or ");
  }
  return type === "array"
    ? `list of ${typeOf(document, items)}`
    : [type ?? "any"].flat().join(" or ");
}

function operationMarkdown(document, path, method, told) {
  const roles = (told.security ?? []).flatMap((one) => one.token ?? []);
  const whom = roles.length > 0 ? `For ${roles.join(", ")}s.` : "For everybody.";
  const parts = [`## \`${method.toUpperCase()} ${path}\``, `${told.summary ?? ""} ${whom}`];
  if (told.description !== undefined) {
    parts.push(told.description);
  }
  const parameters = (told.parameters ?? []).map((one) => resolveReference(document, one));
  if (parameters.length > 0) {
    const rows = parameters.map(
      ({ name, in: place, description, schema }) =>
        `| \`${name}\` | ${place} | ${cell(typeOf(document, schema))} | ${cell(description)} |`,
    );
    parts.push(["| parameter | in | type | |", "|---|---|---|---|", ...rows].join("\n"));
  }
  const answers = Object.entries(told.responses).map(([status, one]) => {
    const { description, content = {} } = resolveReference(document, one);
    const types = Object.keys(content).map((type) => `\`${type}\``);
    return `| ${status} | ${cell(description)} | ${types.join(", ")} |`;
  });
  parts.push(["| status | | content |", "|---|---|---|", ...answers].join("\n"));
  return parts.join("\n\n");
}

/**
 * Returns a Markdown text that lists each path of an OpenAPI document with its parameters and
 * responses.
 *
 * @param {any} document
 */
export function openapiPage(document) {
  return Object.entries(document.paths)
    .flatMap(([path, item]) => {
      const shared = item.parameters ?? [];
      return METHODS.filter((method) => item[method] !== undefined).map((method) => {
        const told = item[method];
        const parameters = [...shared, ...(told.parameters ?? [])];
        return operationMarkdown(document, path, method, { ...told, parameters });
      });
    })
    .join("\n\n");
}
