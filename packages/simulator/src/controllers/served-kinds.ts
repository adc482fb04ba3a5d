// All kinds that the server serves, for controllers that handle every kind.
import { type Client, dynamicKind, type Kind, type Stored } from "@memhog/runtime";
import type { CustomResourceDefinition } from "@memhog/runtime/kinds";

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface ApiGroups {
  readonly groups: readonly {
    readonly preferredVersion: { readonly groupVersion: string; readonly version: string };
    readonly name: string;
  }[];
}

/** Events have no owners and own nothing, so they are not watched. */
const ignored = new Set(["events"]);

/** Every kind that can be listed, watched and deleted, in the version that the server prefers. */
export async function servedKinds(client: Pick<Client, "request">, signal?: AbortSignal): Promise<readonly Kind[]> {
  const ask = async <T>(path: string): Promise<T> => JSON.parse(await client.request({ path, signal })) as T;
  const { groups } = await ask<ApiGroups>("/apis");
  const versions = [
    { group: "", version: "v1", path: "/api/v1" },
    ...groups.map(({ name, preferredVersion: { version } }) => ({ group: name, version, path: `/apis/${name}/${version}` })),
  ];
  const kinds: Kind[] = [];
  for (const { group, version, path } of versions) {
    const { resources } = await ask<{ readonly resources: readonly ApiResource[] }>(path);
    for (const { name, kind, namespaced } of resources.filter(isKept)) {
      kinds.push(dynamicKind({ group, version, kind, plural: name, namespaced }));
    }
  }
  return kinds;
}

function isKept({ name, verbs }: ApiResource): boolean {
  const can = ["list", "watch", "delete"].every((verb) => verbs.includes(verb));
  return can && !name.includes("/") && !ignored.has(name);
}

/** The kind of a CRD, in the first served version; undefined until the CRD is established. */
export function kindDefinedBy(definition: Stored<CustomResourceDefinition>): Kind | undefined {
  const { group, names, scope, versions } = definition.spec;
  const version = versions.find(({ served }) => served)?.name;
  const established = definition.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
  if (version === undefined || !established) return undefined;
  return dynamicKind({ group, version, kind: names.kind, plural: names.plural, namespaced: scope === "Namespaced" });
}

/** "deployments.apps": the same for all versions of a kind. */
export function resourceOf({ plural, group }: Pick<Kind, "plural" | "group">): string {
  return group === "" ? plural : `${plural}.${group}`;
}
