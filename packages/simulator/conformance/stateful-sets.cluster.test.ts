// StatefulSets and their claims: names, volumes, retention; adoption of pods by controllers.
import { describe, expect, it } from "vitest";
import { container, PersistentVolumeClaim, Pod, pod, ReplicaSet, StatefulSet } from "./kinds.ts";
import { at, type Loose, merge, refusal, world } from "./world.ts";

const here = world();

/** A StatefulSet that creates all its pods in parallel, because none of them becomes Ready here. */
function statefulSet(spec: object = {}): Loose {
  const app = here.name();
  const mounted = container({ volumeMounts: [{ name: "data", mountPath: "/data" }] });
  return {
    metadata: { name: app },
    spec: {
      ...{ replicas: 2, serviceName: "x", podManagementPolicy: "Parallel", selector: { matchLabels: { app } } },
      template: { metadata: { labels: { app } }, spec: { containers: [mounted], schedulerName: "nobody" } },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
        },
      ],
      ...spec,
    },
  };
}

const podsOf = async ({ metadata }: Loose) =>
  (await here.client.list(Pod, { namespace: here.namespace, labelSelector: `app=${metadata?.name}` })).items;
const claimsOf = async ({ metadata }: Loose) =>
  (await here.client.list(PersistentVolumeClaim, { namespace: here.namespace, labelSelector: `app=${metadata?.name}` })).items;
const names = (objects: readonly Loose[]) => objects.map(({ metadata }) => metadata?.name).sort();

const started = (set: Loose) =>
  here.cluster.eventually(
    () => podsOf(set),
    (pods) => pods.length === 2,
  );
const claimsBecome = (set: Loose, holds: (claims: readonly Loose[]) => boolean) =>
  here.cluster.eventually(() => claimsOf(set), holds);
const controllersOf = ({ metadata }: Loose) =>
  (metadata?.ownerReferences ?? []).map(({ kind, name, controller }: Loose) => [kind, name, controller]);

describe("a StatefulSet with volumeClaimTemplates", () => {
  it("gives each pod the claim with its ordinal", async () => {
    const set = await here.make(StatefulSet, statefulSet());
    const pods = await started(set);
    const { name } = set.metadata;
    expect(names(pods)).toEqual([`${name}-0`, `${name}-1`]);
    expect(names(await claimsOf(set))).toEqual([`data-${name}-0`, `data-${name}-1`]);
    const [first] = pods.filter(({ metadata }) => metadata.name === `${name}-0`);
    expect(first?.spec.volumes).toContainEqual({ name: "data", persistentVolumeClaim: { claimName: `data-${name}-0` } });
  });

  it("is rejected if it mounts a volume that neither a template nor a volume defines", async () => {
    const { spec, ...rest } = statefulSet();
    const refused = await refusal(here.make(StatefulSet, { ...rest, spec: { ...spec, volumeClaimTemplates: [] } }));
    expect(refused.causes).toMatchObject([
      { reason: "FieldValueNotFound", field: "spec.template.spec.containers[0].volumeMounts[0].name" },
    ]);
  });

  it("keeps its claims by default", async () => {
    const set = await here.make(StatefulSet, statefulSet());
    expect(set.spec.persistentVolumeClaimRetentionPolicy).toEqual({ whenDeleted: "Retain", whenScaled: "Retain" });
    await started(set);
    await here.client.patch(StatefulSet, at(set), merge({ spec: { replicas: 1 } }));
    await here.cluster.eventually(
      () => podsOf(set),
      (pods) => pods.length === 1,
    );
    expect((await claimsOf(set)).map(controllersOf)).toEqual([[], []]);
  });

  it("owns its claims with whenDeleted: Delete, so that they are deleted with it", async () => {
    const policy = { whenDeleted: "Delete", whenScaled: "Retain" };
    const set = await here.make(StatefulSet, statefulSet({ persistentVolumeClaimRetentionPolicy: policy }));
    await started(set);
    const owned = await claimsBecome(set, (claims) => claims.every((claim) => controllersOf(claim).length === 1));
    expect(owned.map(controllersOf)).toEqual([
      [["StatefulSet", set.metadata.name, true]],
      [["StatefulSet", set.metadata.name, true]],
    ]);
    await here.client.delete(StatefulSet, at(set));
    await claimsBecome(set, (claims) => claims.length === 0);
  });

  it("deletes the claim of a pod that it scales down with whenScaled: Delete", async () => {
    const policy = { whenDeleted: "Retain", whenScaled: "Delete" };
    const set = await here.make(StatefulSet, statefulSet({ persistentVolumeClaimRetentionPolicy: policy }));
    await started(set);
    await here.client.patch(StatefulSet, at(set), merge({ spec: { replicas: 1 } }));
    const left = await claimsBecome(set, (claims) => claims.length === 1);
    expect(names(left)).toEqual([`data-${set.metadata.name}-0`]);
  });

  it("is rejected with an unknown retention policy", async () => {
    const policy = { whenDeleted: "Sometimes", whenScaled: "Retain" };
    const refused = await refusal(here.make(StatefulSet, statefulSet({ persistentVolumeClaimRetentionPolicy: policy })));
    expect(refused.causes).toMatchObject([
      { reason: "FieldValueNotSupported", field: "spec.persistentVolumeClaimRetentionPolicy.whenDeleted" },
    ]);
  });
});

describe("adoption of pods", () => {
  const controllerNameOf = async (made: Loose) => {
    const { metadata } = await here.client.get(Pod, at(made));
    return metadata.ownerReferences?.find(({ controller }) => controller)?.name;
  };
  const template = (app: string) => ({
    metadata: { labels: { app } },
    spec: { containers: [container()], schedulerName: "nobody" },
  });

  it("by a ReplicaSet: adopts a matching pod and releases it when it no longer matches", async () => {
    const app = here.name();
    const orphan = await here.make(Pod, pod({ metadata: { labels: { app } } }));
    const spec = { replicas: 1, selector: { matchLabels: { app } }, template: template(app) };
    const set = await here.make(ReplicaSet, { metadata: { name: app }, spec });
    await here.cluster.eventually(
      () => controllerNameOf(orphan),
      (name) => name === app,
    );
    await here.cluster.eventually(
      () => here.client.get(ReplicaSet, at(set)),
      ({ status }) => status?.replicas === 1,
    );
    expect(names(await podsOf(set))).toEqual([orphan.metadata.name]);

    await here.client.patch(Pod, at(orphan), merge({ metadata: { labels: { app: "other" } } }));
    await here.cluster.eventually(
      () => controllerNameOf(orphan),
      (name) => name === undefined,
    );
    await here.cluster.eventually(
      () => podsOf(set),
      (pods) => pods.length === 1 && pods[0]?.metadata.name !== orphan.metadata.name,
    );
  });

  it("by a StatefulSet: adopts a matching pod with one of its names", async () => {
    const set = statefulSet({ replicas: 1 });
    const app = set.metadata?.name ?? "";
    const orphan = await here.make(Pod, pod({ metadata: { name: `${app}-0`, labels: { app } } }));
    const other = await here.make(Pod, pod({ metadata: { name: `${app}-x`, labels: { app } } }));
    await here.make(StatefulSet, set);
    await here.cluster.eventually(
      () => controllerNameOf(orphan),
      (name) => name === app,
    );
    expect(await controllerNameOf(other)).toBeUndefined();
  });

  it("by a later ReplicaSet: adopts pods that a deleted owner orphaned", async () => {
    const app = here.name();
    const spec = { replicas: 1, selector: { matchLabels: { app } }, template: template(app) };
    const first = await here.make(ReplicaSet, { metadata: { name: app }, spec });
    const [kept] = await here.cluster.eventually(
      () => podsOf(first),
      (pods) => pods.length === 1,
    );
    await here.client.delete(ReplicaSet, at(first), { propagationPolicy: "Orphan" });
    await here.cluster.eventually(
      () => here.client.find(ReplicaSet, at(first)),
      (found) => found === undefined,
    );
    await here.make(ReplicaSet, { metadata: { name: `${app}-next` }, spec });
    await here.cluster.eventually(
      () => controllerNameOf(kept ?? {}),
      (name) => name === `${app}-next`,
    );
    expect(names(await podsOf(first))).toEqual([kept?.metadata.name]);
  });
});
