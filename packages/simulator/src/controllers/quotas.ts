// ResourceQuotas: what a namespace uses of what it may. Refusing is admission's part (admission/); counting is ours.
import {
  type Change,
  ConfigMap,
  CronJob,
  controller,
  Deployment,
  done,
  equals,
  Job,
  type Kind,
  type KubernetesObject,
  may,
  type Outcome,
  PersistentVolumeClaim,
  Pod,
  parseQuantity,
  type Quantity,
  quantityOf,
  ReplicaSet,
  ResourceQuota,
  Secret,
  Service,
  StatefulSet,
  type Stored,
} from "@memhog/runtime";
import { hasEnded } from "./pods.ts";
import { type Amounts, limitsOf, requestsOf } from "./scheduler/requests.ts";
import { resourceOf } from "./served-kinds.ts";
import { report } from "./status.ts";

type Any = Stored<KubernetesObject>;
const inNamespace = (object: Any, quotas: { objects(namespace?: string): Iterable<Stored<ResourceQuota>> }) =>
  [...quotas.objects(object.metadata.namespace)].map(({ metadata }) => metadata);
/**
 * What is added, admission has booked before it was stored; to count then, from a cache that has not seen it yet, would give it
 * back. So we count what is gone, as the real controller does, and everything when a quota is new.
 */
const isLess = ({ type }: Pick<Change, "type">) => type === "removed";

export const quotas = controller(
  ResourceQuota,
  {
    name: "resourcequota",
    when: ({ type, object, previous }) => type !== "changed" || !equals(object.spec, previous?.spec),
    watches: [
      {
        kind: Pod,
        when: ({ type, object, previous }) =>
          type === "removed" || (hasEnded(object) && previous !== undefined && !hasEnded(previous)),
        map: inNamespace,
      },
      { kind: PersistentVolumeClaim, when: isLess, map: inNamespace },
      { kind: ConfigMap, when: isLess, map: inNamespace },
      { kind: Secret, when: isLess, map: inNamespace },
      { kind: Service, when: isLess, map: inNamespace },
      { kind: Deployment, when: isLess, map: inNamespace },
      { kind: ReplicaSet, when: isLess, map: inNamespace },
      { kind: StatefulSet, when: isLess, map: inNamespace },
      { kind: Job, when: isLess, map: inNamespace },
      { kind: CronJob, when: isLess, map: inNamespace },
    ],
    may: [may(ResourceQuota, "update", { subresource: "status" })],
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

export interface NamespaceContents {
  readonly pods: readonly Stored<Pod>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
  /** How many there are of other kinds, by resource: "deployments.apps". */
  readonly counts: ReadonlyMap<string, number>;
}

type QuotaStatus = NonNullable<ResourceQuota["status"]>;

/** What is bounded and can be counted here; a bound on anything else is left out rather than called zero. */
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
