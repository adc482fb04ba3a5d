// A cluster that consists of an API server and hollow nodes, on time that a test moves: what the tests of this folder have
// in common.
import {
  type Client,
  type ContainerStatus,
  type Pod,
  Pod as PodKind,
  type PodStatus,
  ServiceAccount,
  type Stored,
} from "@memhog/runtime";
import { type DeepPartial, type ManualClock, manualEnvironment } from "@memhog/runtime/testing";
import { type Simulator, startSimulator } from "../simulator.ts";
import type { HollowNode } from "./hollow-node.ts";
import type { HollowNodes } from "./hollow-nodes.ts";
import { type HollowNodesPartOptions, hollowNodes } from "./part.ts";

export const mib = (count: number) => count * 1024 * 1024;
export const namespace = "default";

export interface HollowWorld extends AsyncDisposable {
  readonly simulator: Simulator;
  readonly client: Client;
  readonly clock: ManualClock;
  readonly nodes: HollowNodes;
  /** The first node. */
  readonly node: HollowNode;
  /** A pod on the first node, with one container "main" unless told otherwise. */
  create(name: string, given?: Given): Promise<Stored<Pod>>;
  pod(name: string): Promise<Stored<Pod>>;
  find(name: string): Promise<Stored<Pod> | undefined>;
  /** Lets time pass until it holds, and answers with the pod. */
  until(name: string, holds: (pod: Stored<Pod>) => boolean): Promise<Stored<Pod>>;
  resize(name: string, resources: object, container?: string): Promise<Stored<Pod>>;
  /** Every status that the API server has had of a pod since it was created, in short; repetitions once. */
  story(name: string): readonly string[];
  /** "Reason count message" of what was told about a pod, in the order of the first time. */
  events(name: string): Promise<readonly string[]>;
}

export interface Given {
  readonly container?: object;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

export async function hollowWorld(options: HollowNodesPartOptions & { readonly seed?: number } = {}): Promise<HollowWorld> {
  const { seed = 1, ...given } = options;
  const environment = manualEnvironment({ seed });
  // Most tests are not about heartbeats, and would only wait for them.
  const part = hollowNodes({ leaseRenewMs: 600_000, ...given });
  const simulator = await startSimulator({ environment, parts: [part] });
  const client = simulator.client();
  await client.create(ServiceAccount, { metadata: { namespace, name: "default" } });
  const stories = new Map<string, string[]>();
  const stop = simulator.core.storage.watch(
    { group: "", plural: "pods" },
    {},
    simulator.core.storage.version,
    ({ type, object }) => {
      const story = stories.get(object.metadata.name ?? "") ?? [];
      const line = type === "DELETED" ? "gone" : inShort(object as unknown as Stored<Pod>);
      if (story.at(-1) !== line) story.push(line);
      stories.set(object.metadata.name ?? "", story);
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
    story: (name) => stories.get(name) ?? [],
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
