// The Node object: name, capacity, labels.
import { type Node, parseQuantity } from "@memhog/runtime";
import type { ResourceList, Taint } from "@memhog/runtime/kinds";

export interface NodeSpec {
  readonly name: string;
  /** The capacity of the machine. @default 4 CPUs, 16Gi, 110 pods */
  readonly capacity?: ResourceList;
  /** The part that pods may use. @default the capacity less 100Mi of memory, which the kubelet reserves */
  readonly allocatable?: ResourceList;
  /** Labels in addition to the default ones. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** @default 10.32.0.1, 10.32.0.2 … */
  readonly address?: string;
}

/** The spec with all defaults applied. */
export interface ResolvedNode extends Required<Omit<NodeSpec, "taints">> {
  readonly taints: readonly Taint[];
  /** The index of the node: 0, 1, 2 … */
  readonly index: number;
}

const defaultCapacity: ResourceList = {
  cpu: "4",
  "ephemeral-storage": "100Gi",
  "hugepages-1Gi": "0",
  "hugepages-2Mi": "0",
  memory: "16Gi",
  pods: "110",
};

export function resolveNode(spec: NodeSpec, index: number): ResolvedNode {
  const capacity = { ...defaultCapacity, ...spec.capacity };
  const { memory = "0" } = capacity;
  const kept = parseQuantity(memory).sub(parseQuantity("100Mi"));
  const allocatable = { ...capacity, memory: (kept.sign > 0 ? kept : parseQuantity(memory)).toString(), ...spec.allocatable };
  const address = spec.address ?? `10.32.${Math.floor(index / 250)}.${(index % 250) + 1}`;
  return { labels: {}, taints: [], ...spec, capacity, allocatable, address, index };
}

/** This many nodes with the default spec: "node-1", "node-2" … */
export function someNodes(count: number): readonly NodeSpec[] {
  return Array.from({ length: count }, (_, at) => ({ name: `node-${at + 1}` }));
}

/** The properties that are unique to each machine. */
export interface NodeIdentity {
  readonly bootId: string;
  readonly machineId: string;
}

/** The Node as its kubelet registers it, with `now` ("2026-01-02T03:04:05Z") as the times of its status. */
export function nodeObject(node: ResolvedNode, identity: NodeIdentity, now: string): Node {
  const labels = {
    "beta.kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "kubernetes.io/hostname": node.name,
    "kubernetes.io/os": "linux",
    ...node.labels,
  };
  return {
    metadata: { name: node.name, labels },
    spec: node.taints.length > 0 ? { taints: node.taints } : {},
    status: nodeStatus(node, identity, now),
  };
}

const conditions = [
  ["MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
  ["Ready", "True", "KubeletReady", "kubelet is posting ready status"],
] as const;

export function nodeStatus(node: ResolvedNode, { bootId, machineId }: NodeIdentity, now: string): NonNullable<Node["status"]> {
  return {
    addresses: [
      { type: "InternalIP", address: node.address },
      { type: "Hostname", address: node.name },
    ],
    capacity: node.capacity,
    allocatable: node.allocatable,
    conditions: conditions.map(([type, status, reason, message]) => {
      return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: now };
    }),
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: "amd64",
      bootID: bootId,
      containerRuntimeVersion: "containerd://hollow",
      kernelVersion: "hollow",
      kubeletVersion: "v1.37.1",
      machineID: machineId,
      operatingSystem: "linux",
      osImage: "hollow",
      systemUUID: machineId,
    },
  };
}
