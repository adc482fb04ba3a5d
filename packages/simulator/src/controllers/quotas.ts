// ResourceQuotas: counts what a namespace uses. Admission (admission/resource-quotas.ts) rejects what exceeds it.
import {
  allow,
  type CacheReader,
  ConfigMap,
  controller,
  Deployment,
  done,
  Job,
  type Kind,
  type KubernetesObject,
  type Outcome,
  Pod,
  parseQuantity,
  Secret,
  Service,
  StatefulSet,
  type Stored,
} from "@memhog/runtime";
import type { Change } from "@memhog/runtime/cache";
import { CronJob, PersistentVolumeClaim, ReplicaSet, ResourceQuota } from "@memhog/runtime/kinds";
import { equals, type Quantity, quantityOf } from "@memhog/runtime/objects";
import { type Amounts, limitsOf, requestsOf } from "./scheduler/requests.ts";
import { resourceOf } from "./served-kinds.ts";
import { hasEnded, report } from "./workload.ts";

type Any = Stored<KubernetesObject>;
const inNamespace = ({ metadata: { namespace } }: Any, cached: CacheReader) =>
  cached.list(ResourceQuota, { namespace }).map(({ metadata }) => metadata);
/**
 * Admission adds new objects to the usage before they are stored. Recounting then, from a cache that does not have them yet,
 * would undo that. So, as in the real controller, only deletions and new quotas cause a recount.
 */
const isLess = ({ type }: Pick<Change, "type">) => type === "removed";

export const quotas = controller(
  ResourceQuota,
  {
    name: "resourcequota",
    predicate: ({ type, object, previous }) => type !== "changed" || !equals(object.spec, previous?.spec),
    watches: [
      {
        kind: Pod,
        predicate: ({ type, object, previous }) =>
          type === "removed" || (hasEnded(object) && previous !== undefined && !hasEnded(previous)),
        map: inNamespace,
      },
      { kind: PersistentVolumeClaim, predicate: isLess, map: inNamespace },
      { kind: ConfigMap, predicate: isLess, map: inNamespace },
      { kind: Secret, predicate: isLess, map: inNamespace },
      { kind: Service, predicate: isLess, map: inNamespace },
      { kind: Deployment, predicate: isLess, map: inNamespace },
      { kind: ReplicaSet, predicate: isLess, map: inNamespace },
      { kind: StatefulSet, predicate: isLess, map: inNamespace },
      { kind: Job, predicate: isLess, map: inNamespace },
      { kind: CronJob, predicate: isLess, map: inNamespace },
    ],
    permissions: [allow(ResourceQuota, "update", { subresource: "status" })],
  },
  async (ref, ctx): Promise<Outcome> => {
    const quota = ctx.get(ResourceQuota, ref);
    if (quota === undefined) return done();
    const home = ref.namespace === undefined ? {} : { namespace: ref.namespace };
    const contents: NamespaceContents = {
      pods: ctx.list(Pod, home),
      claims: ctx.list(PersistentVolumeClaim, home),
      counts: new Map(
        [
          [ConfigMap, ctx.list(ConfigMap, home)] as const,
          [Secret, ctx.list(Secret, home)] as const,
          [Service, ctx.list(Service, home)] as const,
          [Deployment, ctx.list(Deployment, home)] as const,
          [ReplicaSet, ctx.list(ReplicaSet, home)] as const,
          [StatefulSet, ctx.list(StatefulSet, home)] as const,
          [Job, ctx.list(Job, home)] as const,
          [CronJob, ctx.list(CronJob, home)] as const,
          [ResourceQuota, ctx.list(ResourceQuota, home)] as const,
        ].map(([kind, objects]) => [resourceOf(kind as Kind), objects.length]),
      ),
    };
    const status = decideUsage(quota, contents);
    await report(quota, status, (next) => ctx.client.update(ResourceQuota, next, { subresource: "status" }));
    return done();
  },
);

interface NamespaceContents {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
  /** The number of objects of other kinds, by resource: "deployments.apps". */
  readonly counts: ReadonlyMap<string, number>;
}

type QuotaStatus = NonNullable<ResourceQuota["status"]>;

/** The limited resources that can be counted here. Others are omitted rather than reported as zero. */
export function decideUsage({ spec }: Stored<ResourceQuota>, contents: NamespaceContents): QuotaStatus {
  const hard = spec?.hard ?? {};
  const pods = contents.pods.filter((pod) => (spec?.scopes ?? []).every((scope) => isIn(scope, pod)));
  const used = Object.keys(hard)
    .map((name) => [name, usedOf(name, pods, contents)] as const)
    .filter(([, quantity]) => quantity !== undefined)
    .map(([name, quantity]) => [name, `${quantity}`] as const);
  return { hard, used: Object.fromEntries(used) };
}

function isIn(scope: string, pod: Stored<Pod>): boolean {
  const ends = pod.spec.activeDeadlineSeconds !== undefined;
  const bestEffort = pod.status?.qosClass === "BestEffort";
  const scopes: Readonly<Record<string, boolean>> = {
    ...{ Terminating: ends, NotTerminating: !ends, BestEffort: bestEffort, NotBestEffort: !bestEffort },
  };
  return scopes[scope] ?? false;
}

const cpu = (milli: number) => parseQuantity(`${milli}m`);
const bytes = (count: number) => quantityOf(BigInt(count), "BinarySI");
const count = (number: number) => quantityOf(BigInt(number), "DecimalSI");

function usedOf(
  name: string,
  pods: readonly Stored<Pod>[],
  { claims, counts, pods: all }: NamespaceContents,
): Quantity | undefined {
  const alive = pods.filter((pod) => !hasEnded(pod));
  const total = (of: (pod: Stored<Pod>) => Amounts, which: keyof Amounts) => alive.reduce((sum, pod) => sum + of(pod)[which], 0);
  switch (name) {
    case "pods":
      return count(alive.length);
    case "count/pods":
      return count(all.length);
    case "cpu":
    case "requests.cpu":
      return cpu(total(requestsOf, "cpu"));
    case "memory":
    case "requests.memory":
      return bytes(total(requestsOf, "memory"));
    case "limits.cpu":
      return cpu(total(limitsOf, "cpu"));
    case "limits.memory":
      return bytes(total(limitsOf, "memory"));
    case "persistentvolumeclaims":
    case "count/persistentvolumeclaims":
      return count(claims.length);
    case "requests.storage":
      return claims.reduce((sum, { spec }) => sum.add(parseQuantity(spec.resources?.requests?.storage ?? 0)), bytes(0));
    default: {
      const found = counts.get(name.replace(/^count\//, ""));
      return found === undefined ? undefined : count(found);
    }
  }
}
