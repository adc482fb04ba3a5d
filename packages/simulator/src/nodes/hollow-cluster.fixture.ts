// A cluster of an API server and hollow nodes with a manual clock, shared by the tests of this folder.
import { type Client, type Pod, Pod as PodKind, type Stored } from "@memhog/runtime";
import { type ContainerStatus, type PodStatus, ServiceAccount } from "@memhog/runtime/kinds";
import { type DeepPartial, type ManualClock, manualEnvironment } from "@memhog/runtime/testing";
import { type Simulator, startSimulator } from "../simulator.ts";
import type { HollowNode } from "./hollow-node.ts";
import { type HollowNodes, type HollowNodesComponentOptions, hollowNodes } from "./hollow-nodes.ts";

export const mib = (count: number) => count * 1024 * 1024;
export const namespace = "default";

export interface HollowCluster extends AsyncDisposable {
  readonly simulator: Simulator;
  readonly client: Client;
  readonly clock: ManualClock;
  readonly nodes: HollowNodes;
  /** The first node. */
  readonly node: HollowNode;
  /** A pod on the first node, with one container "main" by default. */
  create(name: string, given?: Given): Promise<Stored<Pod>>;
  pod(name: string): Promise<Stored<Pod>>;
  find(name: string): Promise<Stored<Pod> | undefined>;
  /** Advances time until the condition holds, and returns the pod. */
  until(name: string, holds: (pod: Stored<Pod>) => boolean): Promise<Stored<Pod>>;
  resize(name: string, resources: object, container?: string): Promise<Stored<Pod>>;
  /** Every status that the API server has had of a pod since its creation, abbreviated, without repetitions. */
  statuses(name: string): readonly string[];
  /** "Reason count message" of the events of a pod, in order of first occurrence. */
  events(name: string): Promise<readonly string[]>;
}

export interface Given {
  readonly container?: object;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

export async function hollowCluster(
  options: HollowNodesComponentOptions & { readonly seed?: number } = {},
): Promise<HollowCluster> {
  const { seed = 1, ...given } = options;
  const environment = manualEnvironment({ seed });
  // Most tests do not depend on heartbeats.
  const part = hollowNodes({ leaseRenewMs: 600_000, ...given });
  const simulator = await startSimulator({ environment, components: [part] });
  const client = simulator.client();
  await client.create(ServiceAccount, { metadata: { namespace, name: "default" } });
  const statusesByPod = new Map<string, string[]>();
  const stop = simulator.core.storage.watch(
    { group: "", plural: "pods" },
    {},
    simulator.core.storage.version,
    ({ type, object }) => {
      const statuses = statusesByPod.get(object.metadata.name ?? "") ?? [];
      const line = type === "DELETED" ? "gone" : inShort(object as unknown as Stored<Pod>);
      if (statuses.at(-1) !== line) statuses.push(line);
      statusesByPod.set(object.metadata.name ?? "", statuses);
    },
  );
  const { clock } = environment;
  const pod = (name: string) => client.get(PodKind, { namespace, name });
  await clock.advance(0);
  return {
    ...{ simulator, client, clock, nodes: part.nodes, node: part.nodes.all[0] as HollowNode, pod },
    create: (name, how = {}) => client.create(PodKind, podNamed(name, how)),
    find: (name) => client.find(PodKind, { namespace, name }),
    until: (name, holds) => untilHolds(clock, () => pod(name), holds),
    resize: (name, resources, container = "main") => {
      const body = { spec: { containers: [{ name: container, resources }] } };
      return client.patch(PodKind, { namespace, name }, { type: "strategic", body }, { subresource: "resize" });
    },
    statuses: (name) => statusesByPod.get(name) ?? [],
    events: (name) => eventsOf(client, name),
    [Symbol.asyncDispose]: async () => {
      stop();
      await simulator.stop();
    },
  };
}

function podNamed(name: string, { container, spec, annotations }: Given): Pod {
  const main = { name: "main", image: "example.com/main:1", ...container };
  const metadata = { namespace, name, ...(annotations && { annotations }) };
  return { metadata, spec: { nodeName: "node-1", containers: [main], ...spec } };
}

async function untilHolds(clock: ManualClock, read: () => Promise<Stored<Pod>>, holds: (pod: Stored<Pod>) => boolean) {
  for (let tries = 0; tries < 6_000; tries += 1) {
    const found = await read();
    if (holds(found)) return found;
    await clock.advance(100);
  }
  throw new Error(`expected it to hold within ten minutes, found ${inShort(await read())}`);
}

async function eventsOf(client: Client, name: string): Promise<readonly string[]> {
  const query = { fieldSelector: `involvedObject.name=${name}` };
  const { items } = JSON.parse(await client.request({ path: `/api/v1/namespaces/${namespace}/events`, query })) as {
    items: { reason: string; count: number; message: string; metadata: { resourceVersion: string; creationTimestamp: string } }[];
  };
  return items
    .toSorted((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? -1 : 1))
    .map(({ reason, count, message }) => `${reason} ${count} ${message}`);
}

/** "Running sandbox,initialized,ready | main running 1×OOMKilled" */
function inShort({ status = {} }: DeepPartial<Stored<Pod>> & { readonly status?: PodStatus }): string {
  const words = { PodReadyToStartContainers: "sandbox", Initialized: "initialized", Ready: "ready" } as Record<string, string>;
  const holds = status.conditions
    ?.filter(({ type, status: is }) => type in words && is === "True")
    .map(({ type }) => words[type]);
  const resize = status.conditions
    ?.filter(({ type }) => type.startsWith("PodResize"))
    .map(({ type, reason }) => [type, reason].filter(Boolean).join("/"));
  const containers = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map(stateInShort);
  return [
    status.phase,
    ...(holds?.length ? [holds.join()] : []),
    ...(resize ?? []),
    ...(containers.length ? ["|", containers.join(", ")] : []),
  ].join(" ");
}

export function stateInShort({ name, state = {}, ready, restartCount }: ContainerStatus): string {
  const { waiting, running, terminated } = state;
  const is = running ? `running${ready ? "" : " unready"}` : (waiting?.reason ?? `${terminated?.reason} ${terminated?.exitCode}`);
  return `${name} ${is}${restartCount ? ` ×${restartCount}` : ""}`;
}

export const isReady = ({ status }: Stored<Pod>) =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
export const statusOf = ({ status }: Stored<Pod>, container = "main") =>
  status?.containerStatuses?.find(({ name }) => name === container);
export const memory = (limit: string, request = limit) => ({
  resources: { requests: { memory: request }, limits: { memory: limit } },
});
