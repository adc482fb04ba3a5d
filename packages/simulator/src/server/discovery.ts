// Discovery: /api and /apis, generated from the kind entries, per group and version and in the aggregated format.
import { allVerbs, type KindEntry, type SubresourceEntry } from "../kinds/kind-entry.ts";
import { apiVersionOf, byPreference, type KindRegistry } from "../kinds/registry.ts";
import { json, plainText } from "./answer.ts";
import type { ApiRequest, ApiResponse } from "./core.ts";
import { noSuchResource } from "./status-error.ts";

const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** Handles discovery paths below /api and /apis. Returns undefined for other paths. */
export function discoveryAnswer(parts: readonly string[], request: ApiRequest, kinds: KindRegistry): ApiResponse | undefined {
  const all = kinds.all();
  const [root, first, second, ...more] = parts;
  if (more.length > 0 || (root !== "api" && root !== "apis")) return undefined;
  if (first === undefined && acceptsAggregated(request)) return aggregated(root === "api", all);
  if (root === "api") {
    if (first === undefined) return document({ kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] });
    return second === undefined ? resources({ group: "", version: first }, all) : undefined;
  }
  if (first === undefined)
    return document({ kind: "APIGroupList", apiVersion: "v1", groups: groupNames(all).map((name) => group(name, all)) });
  if (second !== undefined) return resources({ group: first, version: second }, all);
  if (!groupNames(all).includes(first)) return plainText(404, "404 page not found\n");
  return document({ kind: "APIGroup", apiVersion: "v1", ...group(first, all) });
}

function document(body: object): ApiResponse {
  return json(200, JSON.stringify(body));
}

function acceptsAggregated({ headers = {} }: ApiRequest): boolean {
  const accept = (headers.accept ?? "").replaceAll(" ", "");
  return accept.split(",").some((type) => type.includes("as=APIGroupDiscoveryList") && type.includes("v=v2;"));
}

function groupNames(all: readonly KindEntry[]): readonly string[] {
  return [...new Set(all.map((entry) => entry.group))].filter((name) => name !== "");
}

/** Returns the preferred version first. */
function versionsOf(name: string, all: readonly KindEntry[]): readonly string[] {
  return [...new Set(all.filter((entry) => entry.group === name).map(({ version }) => version))].sort(byPreference);
}

function group(name: string, all: readonly KindEntry[]) {
  const versions = versionsOf(name, all).map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** Lists one version of a group. @throws StatusError if it does not exist */
function resources(type: { readonly group: string; readonly version: string }, all: readonly KindEntry[]): ApiResponse {
  const served = all.filter((entry) => entry.group === type.group && entry.version === type.version);
  if (served.length === 0) throw noSuchResource();
  const lines = served.flatMap((entry) => [resource(entry), ...subresources(entry)]);
  return document({ kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(type), resources: lines });
}

function resource(entry: KindEntry) {
  const { plural, singular, namespaced, kind, shortNames, categories } = entry;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: entry.verbs ?? allVerbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
  };
}

function subresources(entry: KindEntry) {
  return Object.entries(entry.subresources ?? {}).map(([name, { requestKind, verbs }]) => ({
    name: `${entry.plural}/${name}`,
    singularName: "",
    namespaced: entry.namespaced,
    ...(requestKind && requestKind.group !== entry.group && { group: requestKind.group, version: requestKind.version }),
    kind: requestKind?.kind ?? entry.kind,
    verbs,
  }));
}

function aggregated(core: boolean, all: readonly KindEntry[]): ApiResponse {
  const items = (core ? [""] : groupNames(all)).map((name) => ({
    metadata: { name },
    versions: versionsOf(name, all).map((version) => ({
      version,
      resources: all.filter((entry) => entry.group === name && entry.version === version).map(aggregatedResource),
      freshness: "Current",
    })),
  }));
  const body = { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2", metadata: {}, items };
  return json(200, JSON.stringify(body), { "content-type": aggregatedType });
}

function aggregatedResource(entry: KindEntry) {
  const { plural, singular, namespaced, shortNames, categories } = entry;
  const subresources = Object.entries(entry.subresources ?? {}).map(([name, each]) => aggregatedSubresource(entry, name, each));
  return {
    resource: plural,
    responseKind: { group: "", version: "", kind: entry.kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: entry.verbs ?? allVerbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

function aggregatedSubresource(entry: KindEntry, subresource: string, { requestKind, verbs }: SubresourceEntry) {
  return { subresource, responseKind: { group: "", version: "", kind: entry.kind, ...requestKind }, verbs };
}
