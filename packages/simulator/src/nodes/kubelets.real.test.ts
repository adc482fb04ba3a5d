// Two kubelets, one API server: a hollow node joins a real cluster beside its real node. Both get the same pods, and the test
// compares the statuses and events that they report.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busyboxImage } from "@memhog/localcluster";
import { type TestCluster, testCluster } from "@memhog/localcluster/testing";
import { Node, Pod, type Stored, systemEnvironment } from "@memhog/runtime";
import { createClient, loadConfig } from "@memhog/runtime/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HollowNodes, startHollowNodes } from "./hollow-nodes.ts";
import { comparableEvents, comparableStatus, type Scenario, scenarios } from "./kubelets.fixture.ts";
import { notFound } from "./pod-tools.ts";

const image = "localcluster/busybox:kubelets";
const realNode = "node-1";
const hollowNode = "hollow-beside-a-real-one";

let cluster: TestCluster;
let client: Awaited<ReturnType<typeof connect>>;
let hollow: HollowNodes;

async function connect({ kubeconfig }: TestCluster) {
  const config = await loadConfig({ kubeconfig, env: {} });
  return createClient({ config, environment: systemEnvironment(), rateLimit: { qps: 500, burst: 500 } });
}

beforeAll(async () => {
  cluster = await testCluster({ nodes: "real" });
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  await cluster.load(await busyboxImage({ name: image, output: join(folder, "image.tar") }));
  await rm(folder, { recursive: true });
  client = await connect(cluster);
  const { status } = await client.get(Node, { name: realNode });
  hollow = await startHollowNodes({
    client,
    environment: systemEnvironment(),
    pull: (name) => (name.includes("missing") ? notFound(name) : undefined),
    specs: [
      {
        name: hollowNode,
        ...(status?.capacity && { capacity: status.capacity }),
        ...(status?.allocatable && { allocatable: status.allocatable }),
        // Keeps pods of other tests away; these pods set nodeName.
        taints: [{ key: "simulator.memhog.dev/hollow", effect: "NoSchedule" }],
      },
    ],
  });
}, 300_000);

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  await hollow?.stop();
  await client?.delete(Node, { name: hollowNode }).catch(() => {});
  await client?.close();
});

/** Creates the pod on one of the nodes and takes it through the scenario. */
async function play({ name, pod, until, after }: Scenario, nodeName: string): Promise<Stored<Pod>> {
  const namespace = cluster.defaultNamespace;
  const ref = { namespace, name: `${name}-${nodeName === realNode ? "real" : "hollow"}` };
  const { spec, ...metadata } = pod(image);
  await client.create(Pod, { metadata: { ...ref, ...metadata }, spec: { nodeName, ...spec } });
  const settle = (holds: Scenario["until"]) => cluster.eventually(() => client.get(Pod, ref), holds, { timeoutMs: 100_000 });
  const first = await settle(until);
  if (after === undefined) return first;
  await after.act(client, ref);
  return settle(after.until);
}

describe("a hollow node beside a real one", () => {
  it.each(scenarios)("reports the same status and events as a real kubelet for a pod that $what", async (scenario) => {
    const [real, ours] = await Promise.all([realNode, hollowNode].map((node) => play(scenario, node)));
    if (real === undefined || ours === undefined) throw new Error("no pods");
    expect(comparableStatus(ours)).toEqual(comparableStatus(real));
    expect(await eventsOf(ours, scenario)).toEqual((await eventsOf(real, scenario)).filter(isNoEcho));
  });
});

/** A real kubelet that restarts a container for a resize sometimes first reports that the previous size (64Mi) is complete. */
function isNoEcho(event: string): boolean {
  return !/ResizeCompleted.*"memory":"64Mi"/.test(event);
}

/** The events, as soon as there is one for each compared reason. */
function eventsOf({ metadata }: Stored<Pod>, { events: reasons = [] }: Scenario): Promise<readonly string[]> {
  const query = { fieldSelector: `involvedObject.uid=${metadata.uid}` };
  const read = async () => {
    const text = await client.request({ path: `/api/v1/namespaces/${metadata.namespace}/events`, query });
    return comparableEvents(text, metadata.name, reasons);
  };
  return cluster.eventually(read, (events) => reasons.every((reason) => events.some((line) => line.includes(` ${reason} `))));
}
