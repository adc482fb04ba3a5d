// On the simulator, and unchanged on real Kubernetes. Neither has a node here: the test plays the kubelet, and the provisioner of
// volumes.

import {
  type Client,
  installCrds,
  Job,
  type Kind,
  type KubernetesObject,
  Pod,
  Secret,
  Service,
  StatefulSet,
  type Stored,
  systemEnvironment,
} from "@memhog/runtime";
import { ForbiddenError } from "@memhog/runtime/client";
import { CronJob, dynamicKind, PersistentVolumeClaim, ValidatingWebhookConfiguration } from "@memhog/runtime/kinds";
import { eventually, freePort, killAtEveryWrite, moments, startOperator } from "@memhog/runtime/testing";
import { webhookConfigurations } from "@memhog/runtime/webhook";
import { testCluster } from "@memhog/simulator/testing";
import { describe, expect, it } from "vitest";
import { Ledger, ledgers, webhooks } from "./ledger.ts";

interface Loose extends KubernetesObject {
  readonly [field: string]: unknown;
}
const StorageClass = dynamicKind<Loose>({
  group: "storage.k8s.io",
  version: "v1",
  kind: "StorageClass",
  plural: "storageclasses",
  namespaced: false,
});
const PersistentVolume = dynamicKind<Loose>({
  group: "",
  version: "v1",
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  namespaced: false,
});

async function world() {
  const closing = new AsyncDisposableStack();
  const cluster = closing.use(await testCluster());
  const client = await cluster.client();
  await installCrds(client, [Ledger], { clock: systemEnvironment().clock });
  const namespace = cluster.defaultNamespace;
  const kubelet = playKubelet(client, namespace);
  closing.defer(kubelet.stop);
  const start = () =>
    startOperator({ name: "ledger-operator", controllers: [ledgers], kubeconfig: cluster.kubeconfig, namespaces: [namespace] });
  return {
    cluster,
    client,
    namespace,
    start,
    ...helpers(client, namespace),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

/** Servers become ready, jobs succeed. */
function playKubelet(client: Client, namespace: string) {
  const ending = new AbortController();
  const at = "2026-01-01T00:00:00Z";
  const report = async ({ metadata, spec }: Stored<Pod>) => {
    const isJob = spec.restartPolicy === "Never";
    const conditions = [{ type: "Ready", status: isJob ? "False" : "True", lastTransitionTime: at }];
    const state = isJob ? { terminated: { exitCode: 0, startedAt: at, finishedAt: at } } : { running: { startedAt: at } };
    const containerStatuses = spec.containers.map(({ name }) => ({
      name,
      ready: !isJob,
      restartCount: 0,
      image: "",
      imageID: "",
      state,
    }));
    const status = { phase: isJob ? "Succeeded" : "Running", conditions, containerStatuses };
    await client.patch(Pod, metadata, { type: "merge", body: { status } }, { subresource: "status" }).catch(() => {}); // gone
  };
  const playing = eventually(
    async () => {
      const { items } = await client.list(Pod, { namespace });
      for (const pod of items.filter(({ status }) => status?.containerStatuses === undefined)) await report(pod);
    },
    () => false,
    { signal: ending.signal, timeoutMs: Number.POSITIVE_INFINITY, everyMs: 50 },
  ).catch(() => {});
  const stop = async () => {
    ending.abort(new Error("over"));
    await playing;
  };
  return { stop };
}

function helpers(client: Client, namespace: string) {
  const ref = (name: string) => ({ namespace, name });
  const becomes = async <T extends KubernetesObject>(
    kind: Kind<T>,
    name: string,
    holds: (found: Stored<T>) => boolean = () => true,
  ) =>
    (await eventually(
      () => client.find(kind, ref(name)),
      (found) => found !== undefined && holds(found),
    )) as Stored<T>;
  return {
    ref,
    becomes,
    put: (spec: Partial<Ledger["spec"]> = {}) =>
      client.apply(
        Ledger,
        { metadata: ref("books"), spec: { image: "ledger:1", ...spec } },
        { fieldManager: "test", force: true },
      ),
    serving: () => becomes(Ledger, "books", ({ status }) => status?.conditions?.[0]?.reason === "Serving"),
    gone: (kind: Kind, name: string) =>
      eventually(
        () => client.find(kind, ref(name)),
        (found) => found === undefined,
      ),
  };
}

type World = Awaited<ReturnType<typeof world>>;

/** A volume of a class that can be expanded, and its binding to the claim of the first server. */
async function provision({ cluster, becomes }: World, storageClassName: string): Promise<void> {
  await cluster.apply(
    {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: storageClassName },
      provisioner: "example.com/test",
      allowVolumeExpansion: true,
    },
    {
      ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: storageClassName } },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, storageClassName, hostPath: { path: "/nowhere" } },
    },
  );
  await becomes(PersistentVolumeClaim, "data-books-0", ({ status }) => status?.phase === "Bound");
}

describe("a ledger", () => {
  it("is initialized when its first server is ready, backs itself up on request, and keeps its password", async () => {
    await using on = await world();
    await using _operator = await on.start();
    await on.put({ backupSchedule: "0 3 * * *" });
    await on.serving();
    const init = await on.becomes(Job, "books-init");
    const secret = await on.becomes(Secret, "books-password");
    await on.becomes(CronJob, "books-backup");
    await on.put({ image: "ledger:2" });
    await on.gone(CronJob, "books-backup");
    await on.becomes(StatefulSet, "books", ({ spec }) => spec.template.spec?.containers[0]?.image === "ledger:2");
    expect((await on.becomes(Secret, "books-password")).data).toEqual(secret.data);
    expect((await on.becomes(Job, "books-init")).metadata.uid).toBe(init.metadata.uid);
  });

  it("has exactly the ports it declares", async () => {
    await using on = await world();
    await using _operator = await on.start();
    await on.put();
    const { metadata } = await on.becomes(Service, "books-peers");
    const body = { spec: { ports: [{ name: "ledger", port: 9999 }] } };
    await on.client.patch(Service, metadata, { type: "merge", body });
    await on.becomes(Service, "books-peers", ({ spec }) => spec?.ports?.length === 1 && spec.ports[0]?.port === 7070);
  });

  it("grows its volumes first, and then the template, without a restart of its servers", async () => {
    await using on = await world();
    await using _operator = await on.start();
    const storageClassName = `guide-${on.namespace}`;
    await on.put({ storageClassName });
    await provision(on, storageClassName);
    const [pod, set] = [await on.becomes(Pod, "books-0"), await on.becomes(StatefulSet, "books")];
    await on.put({ storageClassName, storage: "2Gi" });
    await on.becomes(PersistentVolumeClaim, "data-books-0", ({ spec }) => spec.resources?.requests?.storage === "2Gi");
    const replaced = await on.becomes(StatefulSet, "books", ({ metadata }) => metadata.uid !== set.metadata.uid);
    expect(replaced.spec.volumeClaimTemplates?.[0]?.spec.resources?.requests?.storage).toBe("2Gi");
    const adopted = await on.becomes(
      Pod,
      "books-0",
      ({ metadata }) => metadata.ownerReferences?.[0]?.uid === replaced.metadata.uid,
    );
    expect(adopted.metadata.uid).toBe(pod.metadata.uid);
    await on.client.delete(StorageClass, { name: storageClassName });
    await on.client.delete(PersistentVolume, { name: storageClassName });
  });

  it("does not shrink", async () => {
    await using on = await world();
    const port = await freePort();
    const { address, port: exposed } = await on.cluster.expose(port);
    const name = `ledger-${on.namespace}`;
    const url = `https://${address}:${exposed}`;
    const scoped = webhookConfigurations(webhooks, { name, url, namespaces: [on.namespace] });
    await on.cluster.apply(...scoped);
    const server = { webhooks, webhookServer: { port, address: { url } } };
    const options = { name, controllers: [ledgers], kubeconfig: on.cluster.kubeconfig, namespaces: [on.namespace] };
    await using _operator = await startOperator({ ...options, ...server });
    await eventually(
      () => on.put({ storage: "2Gi" }).catch((error: unknown) => error as Error),
      (put) => !(put instanceof Error), // until the API server trusts the webhook
    );
    await eventually(
      () => on.put({ storage: "1Gi" }).catch((error: unknown) => error),
      (error) => error instanceof ForbiddenError,
    );
    await on.client.delete(ValidatingWebhookConfiguration, { name });
  });

  it("is snapshotted before it goes, though it is deleted in the foreground", async () => {
    await using on = await world();
    await using operator = await on.start();
    await on.put({ retainVolumes: true });
    await on.serving();
    await on.client.delete(Ledger, on.ref("books"), { propagationPolicy: "Foreground" });
    await on.gone(Ledger, "books");
    for (const kind of [StatefulSet, Service, Secret])
      await on.gone(kind, kind === StatefulSet ? "books" : kind === Service ? "books-peers" : "books-password");
    const calls = operator.journal.writes.map(({ method, path }) => `${method} ${path}`);
    const snapshot = calls.findIndex((call) => call.startsWith("POST") && call.includes("/jobs"));
    const removal = calls.findIndex((call) => call.startsWith("DELETE") && call.includes("/statefulsets/books"));
    expect(snapshot).toBeGreaterThan(-1);
    expect(removal).toBeGreaterThan(snapshot);
    const claim = await on.becomes(PersistentVolumeClaim, "data-books-0");
    expect(claim.metadata.deletionTimestamp).toBeUndefined();
  });

  it.each(moments)("C1: serves, and goes, though its operator dies at every write: %s", async (when) => {
    await using on = await world();
    await on.put();
    await killAtEveryWrite({ when, start: on.start, settled: on.serving() });
    const secret = await on.becomes(Secret, "books-password");
    await on.client.delete(Ledger, on.ref("books"));
    await killAtEveryWrite({ when, start: on.start, settled: on.gone(Ledger, "books") });
    await on.gone(Secret, "books-password");
    expect(secret.data?.password).toBeDefined();
  });
});
