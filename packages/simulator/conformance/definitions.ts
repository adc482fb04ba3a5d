// CustomResourceDefinitions for tests, each in a group of its own.
import { dynamicKind, type Kind } from "@memhog/runtime";
import { CustomResourceDefinition } from "./kinds.ts";
import { type Loose, loose, type World } from "./world.ts";

export interface Definition {
  readonly kind: Kind<Loose>;
  readonly crd: Loose;
}

/** `version` is merged into the single version of the definition; `properties` are those of its schema. */
export function definition(group: string, properties: object, version: object = {}, names: object = {}): Definition {
  const schema = { openAPIV3Schema: { type: "object", properties } };
  const crd = {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind: "Widget", plural: "widgets", ...names },
      versions: [{ name: "v1", served: true, storage: true, schema, ...version }],
    },
  };
  const kind = loose(dynamicKind({ group, version: "v1", kind: "Widget", plural: "widgets", namespaced: true }));
  return { kind, crd };
}

/** Creates the definition and waits until its objects can be created. */
export async function define({ client, cluster, namespace }: World, { kind, crd }: Definition): Promise<void> {
  await client.apply(CustomResourceDefinition, crd, { fieldManager: "conformance" });
  await cluster.eventually(
    () => client.list(kind, { namespace }),
    () => true,
  );
}
