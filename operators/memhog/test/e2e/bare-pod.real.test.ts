// Real Kubernetes, because admission, the scheduler, the kubelet and Services all affect the copy.
import { Pod, type Stored } from "@memhog/runtime";
import { EndpointSlice } from "@memhog/runtime/kinds";
import { beforeAll, describe, expect, it } from "vitest";
import { copyOfLabel } from "../../src/api/names.ts";
import { furnish, longTest, type RealWorld, realWorld, serves, smallHog } from "./real-world.fixture.ts";

beforeAll(furnish);

describe("a bare pod behind a Service (real Kubernetes: real admission and endpoints)", () => {
  it("is replaced by an otherwise identical copy, stays in its Service, and can be replaced again", longTest, async () => {
    await using on = await realWorld();
    await on.monitor({ strategy: "Redeploy", cooldownSeconds: 0, lookaheadSeconds: 0 });
    await on.apply(...everythingAPodCanHave());
    await on.eventually(() => on.pod("alone"), serves);
    const original = await podNamed(on, "alone");
    await inService(on, "alone");
    await using pods = await on.watchLog(Pod);
    await using endpoints = await on.watchLog(EndpointSlice);
    await on.operate();

    await inService(on, "alone-autoscaled");
    const first = await podNamed(on, "alone-autoscaled");
    expect(essence(first)).toEqual(essence(original, { request: "128Mi", limit: "256Mi" }));
    expect(first.metadata.labels).toEqual({ ...original.metadata.labels, [copyOfLabel]: original.metadata.uid });

    // 116 of 256 MiB is below the threshold.
    await on.monitor({ memThresholdPercent: 40, strategy: "Redeploy", cooldownSeconds: 0, lookaheadSeconds: 0 });
    await inService(on, "alone-autoscaled-2");
    const second = await podNamed(on, "alone-autoscaled-2");
    expect(essence(second)).toEqual(essence(original, { request: "256Mi", limit: "512Mi" }));
    expect(second.metadata.labels).toEqual({ ...original.metadata.labels, [copyOfLabel]: first.metadata.uid });

    // At every moment: at least one pod and one ready address, and at most an original and its copy.
    const podsOverTime = pods.states.slice(1).map((state) => Object.values(state));
    expect(podsOverTime.filter((cast) => !cast.some(serves))).toEqual([]);
    expect(podsOverTime.filter((cast) => cast.length > 2)).toEqual([]);
    expect(new Set(podsOverTime.flat().map(({ metadata }) => metadata.name))).toEqual(
      new Set(["alone", "alone-autoscaled", "alone-autoscaled-2"]),
    );
    const slices = endpoints.states.slice(1).map((state) => Object.values(state).flatMap(addresses));
    expect(slices.length).toBeGreaterThan(2);
    expect(slices.filter((ready) => ready.length === 0)).toEqual([]);
    await on.told("Pod", /^PodReplaced: alone-autoscaled was replaced by alone-autoscaled-2: memhog 128Mi\/256Mi → 256Mi\/512Mi/);
  });
});

const podNamed = ({ client, namespace }: RealWorld, name: string) => client.get(Pod, { namespace, name });

/** Names of the ready pods in the EndpointSlice. */
const addresses = ({ endpoints }: EndpointSlice) =>
  (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false).map(({ targetRef }) => targetRef?.name);

/** Waits until this pod is the only pod and the only endpoint of the Service. */
async function inService(on: RealWorld, name: string): Promise<void> {
  const read = async () => {
    const { items } = await on.client.list(EndpointSlice, { namespace: on.namespace });
    return { ready: items.flatMap(addresses), pods: (await on.pods("app=alone")).map((pod) => pod.metadata.name) };
  };
  await on.eventually(read, ({ ready, pods }) => `${ready}` === name && `${pods}` === name);
}

interface Memory {
  readonly request: string;
  readonly limit: string;
}

/** The pod as submitted and defaulted by admission, without the fields that differ in every pod, optionally with other memory. */
function essence(pod: Stored<Pod>, memory?: Memory): object {
  const { labels: _, annotations, ownerReferences } = pod.metadata;
  const { "app-monitor.kubedemo.com/app": __, ...kept } = annotations ?? {};
  const token = pod.spec.volumes?.find(({ name }) => name.startsWith("kube-api-access-"))?.name ?? "none";
  const spec = JSON.parse(JSON.stringify(pod.spec).replaceAll(token, "kube-api-access"));
  if (memory !== undefined)
    spec.containers[0].resources = { limits: { memory: memory.limit }, requests: { memory: memory.request } };
  return { annotations: kept, ownerReferences, spec };
}

function everythingAPodCanHave(): readonly object[] {
  const hog = smallHog("alone");
  const [memhog] = hog.spec.containers;
  const mounts = [
    { name: "scratch", mountPath: "/scratch" },
    { name: "settings", mountPath: "/settings", readOnly: true },
  ];
  const sidecar = { ...memhog, name: "sidecar", args: ["--hold"], volumeMounts: mounts.slice(0, 1) };
  const pod = {
    ...hog,
    metadata: {
      name: "alone",
      labels: { app: "alone", team: "demo" },
      annotations: { ...hog.metadata.annotations, "example.com/note": "keep me" },
    },
    spec: {
      ...hog.spec,
      serviceAccountName: "special",
      terminationGracePeriodSeconds: 1,
      tolerations: [{ key: "example.com/any", operator: "Exists" }],
      hostAliases: [{ ip: "127.0.0.1", hostnames: ["alone.example.com"] }],
      initContainers: [{ ...sidecar, name: "native-sidecar", restartPolicy: "Always" }],
      containers: [
        {
          ...memhog,
          volumeMounts: mounts,
          env: [{ name: "COLOUR", valueFrom: { configMapKeyRef: { name: "settings", key: "colour" } } }],
          ports: [{ name: "http", containerPort: 8080 }],
          readinessProbe: { exec: { command: ["node", "--version"] }, timeoutSeconds: 30, failureThreshold: 30 },
        },
        sidecar,
      ],
      volumes: [
        { name: "scratch", emptyDir: { sizeLimit: "10Mi" } },
        { name: "settings", configMap: { name: "settings" } },
      ],
    },
  };
  const ports = [{ port: 80, targetPort: "http" }];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "special" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { colour: "blue" } },
    { apiVersion: "v1", kind: "Service", metadata: { name: "alone" }, spec: { selector: { app: "alone" }, ports } },
    pod,
  ];
}
