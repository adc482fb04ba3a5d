// Server-side apply: the manifest says what should be, the API server works out what to change. What else comes first is done
// first: namespaces and CRDs before what lives in them, and a CRD is served before its objects are sent.
import type { Api } from "./client.ts";
import type { Discovery } from "./discovery.ts";
import { eventually } from "./eventually.ts";
import type { KubernetesObject } from "./objects.ts";

export interface ApplyContext {
  readonly api: Api;
  readonly discovery: Discovery;
  /** Where objects go that are namespaced and do not say. */
  readonly namespace: string;
}

const crd = "CustomResourceDefinition";

/** Applies objects in order, but for namespaces and CRDs, which go first. Answers with what the API server made of them. */
export async function apply(context: ApplyContext, objects: readonly KubernetesObject[]): Promise<KubernetesObject[]> {
  const ground = objects.filter(({ kind }) => kind === "Namespace" || kind === crd);
  const results = new Map<KubernetesObject, KubernetesObject>();
  for (const object of ground) results.set(object, await applyOne(context, object));
  for (const object of ground) if (object.kind === crd) await untilServed(context, object);
  for (const object of objects) if (!results.has(object)) results.set(object, await applyOne(context, object));
  return objects.flatMap((object) => results.get(object) ?? []);
}

async function applyOne({ api, discovery, namespace }: ApplyContext, object: KubernetesObject): Promise<KubernetesObject> {
  const collection = await discovery.collectionPath(object, object.metadata.namespace ?? namespace);
  // There is nothing to apply to when the server is to choose the name.
  if (object.metadata.name === undefined) return api.request<KubernetesObject>("POST", collection, object);
  const path = `${collection}/${object.metadata.name}?fieldManager=localcluster&force=true`;
  return api.request<KubernetesObject>("PATCH", path, object, { contentType: "application/apply-patch+yaml" });
}

/** Established is what the API server says of a CRD; that its kinds are in discovery comes a moment later. */
async function untilServed({ api, discovery }: ApplyContext, { metadata, spec }: KubernetesObject): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`;
  await eventually(
    () => api.request<KubernetesObject>("GET", path),
    ({ status }) => conditionsOf(status).some(({ type, status: value }) => type === "Established" && value === "True"),
    { what: `CRD ${metadata.name} is Established` },
  );
  for (const version of spec.versions.filter(({ served }: { served: boolean }) => served)) {
    const kind = { apiVersion: `${spec.group}/${version.name}`, kind: spec.names.kind };
    await eventually(
      () => discovery.knows(kind),
      (known) => known,
      { what: `${kind.kind} of ${kind.apiVersion} is served` },
    );
  }
}

function conditionsOf(status: { conditions?: readonly { type: string; status: string }[] } | undefined) {
  return status?.conditions ?? [];
}
