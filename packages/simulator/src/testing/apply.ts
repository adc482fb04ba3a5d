// Server-side apply of several objects, in the order in which they can be.
import type { Cluster, ClusterObject } from "./cluster.ts";
import type { Paths } from "./paths.ts";

interface Tools {
  readonly request: Cluster["request"];
  readonly paths: Paths;
  readonly eventually: (read: () => Promise<boolean>, holds: (value: boolean) => boolean) => Promise<boolean>;
}

/** Namespaces and CRDs first: what lives in them needs them. Answers in the order of the manifests. */
export async function applyAll(tools: Tools, objects: readonly ClusterObject[]): Promise<ClusterObject[]> {
  const made = new Map<ClusterObject, ClusterObject>();
  const ground = objects.filter(({ kind }) => kind === "Namespace" || kind === "CustomResourceDefinition");
  for (const object of [...ground, ...objects.filter((one) => !ground.includes(one))]) {
    made.set(object, await applyOne(tools, object));
    if (object.kind === "CustomResourceDefinition") await untilServed(tools, object);
  }
  return objects.flatMap((object) => made.get(object) ?? []);
}

async function applyOne({ request, paths }: Tools, object: ClusterObject): Promise<ClusterObject> {
  const path = await paths.object(object);
  // There is nothing to apply to when the server is to choose the name.
  if (object.metadata.name === undefined) return request("POST", path.slice(0, path.lastIndexOf("/")), object);
  const contentType = "application/apply-patch+yaml";
  return request("PATCH", `${path}?fieldManager=localcluster&force=true`, object, { contentType });
}

async function untilServed({ paths, eventually }: Tools, { spec }: ClusterObject): Promise<void> {
  for (const { name, served } of spec.versions) {
    const kind = { apiVersion: `${spec.group}/${name}`, kind: spec.names.kind };
    if (served) await eventually(() => paths.knows(kind), Boolean);
  }
}
