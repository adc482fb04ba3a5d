// Manifests as YAML. The parser is loaded only when it is used: an operator at work reads and writes JSON, and memory is
// what this project saves.

/**
 * Objects as YAML documents, keys in the order they have: `console.log(await toYaml(crdOf(Gordon), ...rolesFor(grants, options)))`.
 *
 * Kubernetes reads YAML 1.1, where `y`, `no`, `on` and `0o7` are not strings; so that version's quoting is used.
 */
export async function toYaml(...objects: readonly object[]): Promise<string> {
  const { stringify } = await import("yaml");
  const documents = objects.map((object) =>
    stringify(object, { schema: "yaml-1.1", lineWidth: 0, aliasDuplicateObjects: false }),
  );
  return documents.join("---\n");
}
