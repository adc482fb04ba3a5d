// Namespaces: each gets a default ServiceAccount and the ConfigMap with the certificate authority, and is emptied before it is
// removed.
//
// Objects in it may have finalizers and pods take time to stop, so the controller checks again until nothing is left. The
// conditions of the namespace say what remains.
import {
  AlreadyExistsError,
  allow,
  type Client,
  ConfigMap,
  controller,
  done,
  type Kind,
  type KubernetesObject,
  NotFoundError,
  type Outcome,
  refOf,
  requeueAfter,
  type Stored,
  seconds,
  view,
} from "@memhog/runtime";
import { type Condition, Namespace, ServiceAccount } from "@memhog/runtime/kinds";
import { setCondition } from "@memhog/runtime/objects";
import { resourceOf, servedKinds } from "./served-kinds.ts";
import { isBeingDeleted, report, stated } from "./workload.ts";

/** The remaining objects of a namespace. */
interface Remaining {
  readonly kind: Kind;
  readonly objects: readonly Stored<KubernetesObject>[];
}

const rootAuthority = "kube-root-ca.crt";
const RootAuthority = view(ConfigMap, { fieldSelector: `metadata.name=${rootAuthority}` });
const annotations = {
  "kubernetes.io/description":
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
};

/**
 * @param client deletes objects of every kind, which a list of permissions could not name
 * @param authority PEM of the certificate authority for pods; "" without TLS
 */
export const namespaces = (client: Client, authority: string) =>
  controller(
    Namespace,
    {
      name: "namespace",
      watches: [
        { kind: ServiceAccount, map: ({ metadata }) => [{ name: metadata.namespace ?? "" }] },
        { kind: RootAuthority, map: ({ metadata }) => [{ name: metadata.namespace ?? "" }] },
      ],
      permissions: [
        allow(ServiceAccount, "create"),
        allow(ConfigMap, "create"),
        allow(Namespace, "update", { subresource: "status" }),
        allow(Namespace, "update", { subresource: "finalize" }),
      ],
    },
    async (ref, ctx): Promise<Outcome> => {
      const namespace = ctx.get(Namespace, ref);
      if (namespace === undefined) return done();
      if (!isBeingDeleted(namespace)) {
        const account = { namespace: ref.name, name: "default" };
        if (ctx.get(ServiceAccount, account) === undefined) {
          await unlessThere(ctx.client.create(ServiceAccount, { metadata: account }));
        }
        const trust = { namespace: ref.name, name: rootAuthority };
        if (ctx.get(RootAuthority, trust) === undefined) {
          await unlessThere(ctx.client.create(ConfigMap, { metadata: { ...trust, annotations }, data: { "ca.crt": authority } }));
        }
        return done();
      }
      if (!namespace.spec?.finalizers?.includes("kubernetes")) return done();
      const remaining = await empty(client, ref.name, ctx.signal);
      const conditions = decideConditions(namespace, remaining, ctx.clock.now());
      const status = stated<NonNullable<Namespace["status"]>>({ ...namespace.status, conditions });
      if (remaining.length > 0) {
        await report(namespace, status, (next) => ctx.client.update(Namespace, next, { subresource: "status" }));
        return requeueAfter(seconds(1), "what is in the namespace is still going");
      }
      const finalizers = namespace.spec.finalizers.filter((each) => each !== "kubernetes");
      const emptied: Namespace = { ...namespace, spec: { finalizers } };
      await ctx.client.update(Namespace, emptied, { subresource: "finalize" });
      return done();
    },
  );

async function unlessThere(creation: Promise<unknown>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!(error instanceof AlreadyExistsError)) throw error;
  });
}

/** Deletes everything in a namespace and returns the objects that remain. */
async function empty(client: Client, namespace: string, signal: AbortSignal): Promise<readonly Remaining[]> {
  const remaining: Remaining[] = [];
  for (const kind of (await servedKinds(client, signal)).filter(({ namespaced }) => namespaced)) {
    const objects: Stored<KubernetesObject>[] = [];
    for await (const object of client.listAll(kind, { namespace, signal })) {
      if (isBeingDeleted(object) || (await remove(client, kind, object, signal))) objects.push(object);
    }
    if (objects.length > 0) remaining.push({ kind, objects });
  }
  return remaining;
}

/** True if the namespace must wait for something. */
async function remove(client: Client, kind: Kind, object: Stored<KubernetesObject>, signal: AbortSignal): Promise<boolean> {
  const { uid } = object.metadata;
  try {
    return (await client.delete(kind, refOf(object), { uid, propagationPolicy: "Background", signal })) !== undefined;
  } catch (error) {
    if (error instanceof NotFoundError) return false;
    throw error;
  }
}

/** Shown by `kubectl get namespace -o yaml` for a namespace that stays in Terminating. */
export function decideConditions(
  namespace: Stored<Namespace>,
  remaining: readonly Remaining[],
  nowMs: number,
): readonly Condition[] {
  const holders = Map.groupBy(
    remaining.flatMap(({ objects }) => objects.flatMap(({ metadata }) => metadata.finalizers ?? [])),
    (finalizer) => finalizer,
  );
  const found: readonly Omit<Condition, "lastTransitionTime">[] = [
    fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    fine("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
    fine("NamespaceDeletionContentFailure", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
    remaining.length === 0
      ? fine("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed")
      : trouble(
          "NamespaceContentRemaining",
          "SomeResourcesRemain",
          `Some resources are remaining: ${remaining.map(countOf).join(", ")}`,
        ),
    holders.size === 0
      ? fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished")
      : trouble(
          "NamespaceFinalizersRemaining",
          "SomeFinalizersRemain",
          `Some content in the namespace has finalizers remaining: ${[...holders].map(([name, all]) => `${name} in ${all.length} resource instances`).join(", ")}`,
        ),
  ];
  return found.reduce<readonly Condition[]>(
    (conditions, condition) => setCondition(conditions, condition, nowMs),
    namespace.status?.conditions ?? [],
  );
}

const fine = (type: string, reason: string, message: string) => ({ type, status: "False", reason, message }) as const;
const trouble = (type: string, reason: string, message: string) => ({ type, status: "True", reason, message }) as const;
const countOf = ({ kind, objects }: Remaining) => `${withDot(resourceOf(kind))} has ${objects.length} resource instances`;
/** The real controller writes the dot even for the empty group. */
const withDot = (resource: string) => (resource.includes(".") ? resource : `${resource}.`);
