// Pods for comparing two kubelets: the pods, the conditions to wait for, and the comparable part of their status.
import { type Client, type ObjectRef, Pod, type Stored } from "@memhog/runtime";
import type { PodSpec } from "@memhog/runtime/kinds";
import { eventually } from "@memhog/runtime/testing";

export interface Scenario {
  readonly name: string;
  /** Completes the sentence "a pod that …". */
  readonly what: string;
  readonly pod: (image: string) => { readonly spec: PodSpec; readonly finalizers?: readonly string[] };
  /** The condition to wait for before comparing. */
  readonly until: (pod: Stored<Pod>) => boolean;
  /** An action to take then, and the condition to wait for instead. */
  readonly after?: {
    readonly act: (client: Client, ref: ObjectRef) => Promise<unknown>;
    readonly until: (pod: Stored<Pod>) => boolean;
  };
  /** Reasons of events whose messages must be identical. */
  readonly events?: readonly string[];
}

export const conditionOf = ({ status }: Stored<Pod>, type: string) => status?.conditions?.find((each) => each.type === type);
export const mainOf = ({ status }: Stored<Pod>) => status?.containerStatuses?.find(({ name }) => name === "main");

const isReady = (pod: Stored<Pod>) => conditionOf(pod, "Ready")?.status === "True";
const inPhase = (phase: string) => (pod: Stored<Pod>) => pod.status?.phase === phase;
const memory = (limit: string, request = limit) => ({ requests: { memory: request }, limits: { memory: limit } });

function onePod(script: string, container: object = {}, spec: object = {}) {
  return (image: string) => ({
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "main", image, imagePullPolicy: "Never", command: ["sh", "-c", script], ...container }],
      ...spec,
    } as PodSpec,
  });
}

function helper(image: string, name: string, script: string, more: object = {}) {
  return { name, image, imagePullPolicy: "Never" as const, command: ["sh", "-c", script], ...more };
}

const resize = (resources: object) => (client: Client, ref: ObjectRef) =>
  client.patch(
    Pod,
    ref,
    { type: "strategic", body: { spec: { containers: [{ name: "main", resources }] } } },
    { subresource: "resize" },
  );
const limitIs = (limit: string) => (pod: Stored<Pod>) =>
  mainOf(pod)?.resources?.limits?.memory === limit && conditionOf(pod, "PodResizeInProgress") === undefined;

const forever = "exec sleep 100000";

/** Another running pod on the same node, with its own request. */
async function neighbourOf(client: Client, { namespace = "default", name }: ObjectRef, spec: PodSpec): Promise<void> {
  const [main] = spec.containers;
  if (main === undefined || spec.nodeName === undefined) throw new TypeError("expected a pod with a container, on a node");
  const { image, imagePullPolicy = "Never", command = [] } = main;
  const container = { name: "main", image, imagePullPolicy, command, resources: memory("64Mi", "32Mi") };
  const metadata = { namespace, name: `${name}-neighbour` };
  const pod = { nodeName: spec.nodeName, terminationGracePeriodSeconds: 1, containers: [container] } as PodSpec;
  await client.create(Pod, { metadata, spec: pod });
  await eventually(() => client.get(Pod, metadata), isReady);
}

export const scenarios: readonly Scenario[] = [
  {
    name: "plain",
    what: "runs",
    pod: onePod(forever, { resources: { requests: { memory: "32Mi", cpu: "10m" }, limits: { memory: "64Mi" } } }),
    until: isReady,
    events: ["Created", "Pulled", "Started"],
  },
  { name: "best-effort", what: "requests nothing", pod: onePod(forever), until: isReady },
  {
    name: "guaranteed",
    what: "has QoS class Guaranteed",
    pod: onePod(forever, { resources: { requests: { memory: "64Mi", cpu: "50m" }, limits: { memory: "64Mi", cpu: "50m" } } }),
    until: isReady,
  },
  {
    name: "inits",
    what: "has init containers and a sidecar",
    pod: (image) => ({
      spec: {
        ...onePod(forever)(image).spec,
        initContainers: [
          helper(image, "first", "sleep 1"),
          helper(image, "side", forever, { restartPolicy: "Always", resources: { requests: { memory: "16Mi" } } }),
          helper(image, "second", "sleep 1"),
        ],
      },
    }),
    until: isReady,
  },
  {
    name: "initializing",
    what: "is still initializing",
    pod: (image) => ({ spec: { ...onePod(forever)(image).spec, initContainers: [helper(image, "first", forever)] } }),
    until: ({ status }) => status?.initContainerStatuses?.[0]?.state?.running !== undefined,
  },
  {
    name: "completes",
    what: "completes",
    pod: onePod("sleep 1; exit 0", {}, { restartPolicy: "Never" }),
    until: inPhase("Succeeded"),
  },
  {
    name: "fails",
    what: "fails with one of two containers",
    pod: (image) => ({
      spec: {
        ...onePod("", {}, { restartPolicy: "Never" })(image).spec,
        containers: [helper(image, "main", "sleep 1; exit 3"), helper(image, "also", "sleep 2; exit 0")],
      },
    }),
    until: inPhase("Failed"),
  },
  {
    name: "initfails",
    what: "fails to initialize",
    pod: (image) => ({
      spec: {
        ...onePod(forever, {}, { restartPolicy: "Never" })(image).spec,
        initContainers: [helper(image, "first", "sleep 1; exit 5")],
      },
    }),
    until: inPhase("Failed"),
  },
  {
    name: "sidecar-ends",
    what: "completes beside a sidecar",
    pod: (image) => ({
      spec: {
        ...onePod("sleep 1; exit 0", {}, { restartPolicy: "Never" })(image).spec,
        initContainers: [helper(image, "side", forever, { restartPolicy: "Always" })],
      },
    }),
    until: inPhase("Succeeded"),
  },
  {
    name: "crashes",
    what: "has crashed twice",
    pod: onePod("sleep 1; exit 7"),
    until: (pod) => mainOf(pod)?.restartCount === 1 && mainOf(pod)?.state?.terminated !== undefined,
    events: ["BackOff"],
  },
  {
    name: "oom",
    what: "was OOM-killed twice",
    pod: onePod("sleep 1; tail /dev/zero", { resources: memory("32Mi", "16Mi") }),
    until: (pod) => mainOf(pod)?.restartCount === 1 && mainOf(pod)?.state?.terminated !== undefined,
  },
  {
    name: "oom-never",
    what: "was OOM-killed with restartPolicy Never",
    pod: onePod("sleep 1; tail /dev/zero", { resources: memory("32Mi", "16Mi") }, { restartPolicy: "Never" }),
    until: inPhase("Failed"),
  },
  {
    name: "unready",
    what: "is not ready",
    pod: (image) => onePod(forever, { readinessProbe: { exec: { command: ["false"] }, initialDelaySeconds: 3600 } })(image),
    until: (pod) => mainOf(pod)?.state?.running !== undefined,
  },
  {
    name: "noimage",
    what: "has a missing image and imagePullPolicy Never",
    pod: () => onePod(forever)("localcluster/missing:1"),
    until: (pod) => mainOf(pod)?.state?.waiting?.reason === "ErrImageNeverPull",
    events: ["ErrImageNeverPull", "Failed"],
  },
  {
    name: "deadline",
    what: "has exceeded its deadline",
    pod: onePod(forever, {}, { restartPolicy: "Never", activeDeadlineSeconds: 4 }),
    until: inPhase("Failed"),
  },
  {
    name: "too-big",
    what: "is too big for the node",
    pod: onePod(forever, { resources: memory("5000Gi") }),
    until: inPhase("Failed"),
  },
  {
    name: "resized",
    what: "was resized",
    pod: onePod(forever, { resources: memory("64Mi", "32Mi") }),
    until: isReady,
    after: { act: resize(memory("96Mi", "48Mi")), until: limitIs("96Mi") },
    events: ["ResizeStarted", "ResizeCompleted"],
  },
  {
    name: "limit-only",
    what: "got a higher limit",
    pod: onePod(forever, { resources: memory("64Mi", "32Mi") }),
    until: isReady,
    after: { act: resize({ limits: { memory: "96Mi" } }), until: limitIs("96Mi") },
  },
  {
    name: "restarted",
    what: "is restarted by a resize",
    pod: onePod(forever, {
      resources: memory("64Mi", "32Mi"),
      resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }],
    }),
    until: isReady,
    after: {
      act: resize(memory("96Mi", "48Mi")),
      until: (pod) => limitIs("96Mi")(pod) && mainOf(pod)?.restartCount === 1 && isReady(pod),
    },
    events: ["ResizeStarted", "ResizeCompleted", "Killing"],
  },
  {
    name: "below-use",
    what: "is resized below its usage",
    pod: onePod(`dd if=/dev/zero of=/dev/shm/x bs=1M count=20; ${forever}`, { resources: memory("128Mi", "32Mi") }),
    until: isReady,
    after: {
      act: resize(memory("8Mi", "8Mi")),
      until: (pod) => conditionOf(pod, "PodResizeInProgress")?.reason === "Error",
    },
  },
  {
    name: "deferred",
    what: "is resized beyond the free memory of the node",
    pod: onePod(forever, { resources: memory("20Gi", "64Mi") }),
    until: isReady,
    after: {
      // The whole node, of which another pod uses a part.
      act: async (client, ref) => {
        const { spec } = await client.get(Pod, ref);
        await neighbourOf(client, ref, spec);
        const node = JSON.parse(await client.request({ path: `/api/v1/nodes/${spec.nodeName}` })) as {
          status: { allocatable: { memory: string } };
        };
        await resize({ requests: { memory: node.status.allocatable.memory }, limits: { memory: "5000Gi" } })(client, ref);
      },
      // The kubelet first writes the condition and shortly after it the new observedGeneration.
      until: (pod) => conditionOf(pod, "PodResizePending") !== undefined && (pod.status?.observedGeneration ?? 2) >= 2,
    },
  },
  {
    name: "deleted",
    what: "is deleted and kept by a finalizer",
    pod: (image) => ({ ...onePod(forever)(image), finalizers: ["simulator.memhog.dev/look"] }),
    until: isReady,
    after: {
      act: (client, ref) => client.delete(Pod, ref),
      until: (pod) => pod.metadata.deletionGracePeriodSeconds === 0 && pod.status?.phase !== "Running",
    },
    events: ["Killing"],
  },
];

/** The status without names, addresses, IDs, times and measured usage, which always differ. */
export function comparableStatus({ status, metadata }: Stored<Pod>): object {
  const { hostIP, hostIPs, podIP, podIPs, startTime, resources, ...rest } = status ?? {};
  const text = JSON.stringify({ ...rest, has: { hostIP, hostIPs, podIP, podIPs, startTime } })
    .replaceAll(metadata.name, "POD")
    .replaceAll(metadata.uid, "UID")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
    .replace(/[0-9a-f]{64}/g, "ID")
    .replace(/10\.\d+\.\d+\.\d+/g, "IP")
    .replace(/kube-api-access-\w{5}/g, "kube-api-access")
    .replace(/(requested|used|capacity): \d+/g, "$1: N")
    .replace(/current usage \(\d+\)/g, "current usage (N)")
    // The usage of the whole pod is measured separately and may be missing.
    .replace(/\[attempting to set pod memory limit \(\d+\) below current usage \(N\), ([^\]]*)\]/, "$1");
  return JSON.parse(text) as object;
}

/** The event messages without the parts that always differ. */
export function comparableEvents(list: string, pod: string, reasons: readonly string[]): readonly string[] {
  const { items } = JSON.parse(list) as { items: Event[] };
  const lines = items
    .filter(({ reason }) => reasons.includes(reason))
    .map(({ type, reason, message, involvedObject }) => `${type} ${reason} ${involvedObject.fieldPath ?? ""}: ${message}`);
  const uid = items[0]?.involvedObject.uid ?? "";
  return lines.map((line) => line.replaceAll(pod, "POD").replaceAll(uid, "UID")).sort();
}

interface Event {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly involvedObject: { readonly uid: string; readonly fieldPath?: string };
}
