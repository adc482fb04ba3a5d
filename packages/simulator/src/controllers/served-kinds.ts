// What the server serves, for those controllers that are about every kind there is.
import { type Client, type CustomResourceDefinition, dynamicKind, type Kind, type Stored } from "@memhog/runtime";

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

/** Events tell of objects; they are not worth following, and belong to nobody. */
const ignored = new Set(["events"]);

/** Every kind whose objects can be listed, watched and deleted, each in the version the server prefers. */
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

/** The kind that a definition defines, in the first version it serves; undefined until the server has established it. */
export function kindDefinedBy(definition: Stored<CustomResourceDefinition>): Kind | undefined {
  const { group, names, scope, versions } = definition.spec;
  const version = versions.find(({ served }) => served)?.name;
  const established = definition.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
  if (version === undefined || !established) return undefined;
  return dynamicKind({ group, version, kind: names.kind, plural: names.plural, namespaced: scope === "Namespaced" });
}

/** "deployments.apps": the same for every version of a kind. */
export function resourceOf({ plural, group }: Pick<Kind, "plural" | "group">): string {
  return group === "" ? plural : `${plural}.${group}`;
}
