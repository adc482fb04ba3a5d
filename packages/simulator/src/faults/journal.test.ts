import { Deployment, Node, Pod } from "@memhog/runtime";
import { manualEnvironment, seededRandom } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { fullCluster } from "../full-cluster.ts";
import { startSimulator } from "../simulator.ts";
import { serverJournal } from "./journal.ts";
import { makeTrafficFaults, randomTrafficFaults, type TrafficFaultShares } from "./traffic-faults.ts";

const labels = { app: "x" };
const deployment = {
  metadata: { namespace: "default", name: "web" },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.com/none" }] } },
  },
};
const room = { cpu: "4", memory: "8Gi", pods: "110" };
const node = {
  metadata: { name: "node-1" },
  status: { capacity: room, allocatable: room, conditions: [{ type: "Ready", status: "True" }] },
};

/** The journal of a rollout, a rollback and a deletion, over ten minutes. */
async function run({ seed, shares = {} }: { readonly seed: number; readonly shares?: TrafficFaultShares }) {
  const environment = manualEnvironment({ seed });
  const { clock } = environment;
  const journal = serverJournal(clock);
  const chance = randomTrafficFaults(seededRandom(seed), shares);
  const faults = makeTrafficFaults({ clock });
  const middleware = [journal.middleware, faults.middleware];
  const simulator = await startSimulator({ environment, middleware, components: fullCluster() });
  const client = simulator.client({ userAgent: "tester" });
  // The test's own requests succeed: faults begin once time advances.
  faults.plan = (request) => (request.userAgent.startsWith("tester") ? undefined : chance(request));
  await client.create(Node, node as never);
  await client.create(Deployment, deployment);
  await clock.advance(300_000);
  // There is no kubelet here, so a deleted pod keeps its deletionTimestamp.
  const staying = async () =>
    (await client.list(Pod, { namespace: "default" })).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const pods = (await staying()).length;
  await client.patch(Deployment, deployment.metadata, { type: "merge", body: { spec: { replicas: 1 } } });
  await client.delete(Deployment, deployment.metadata);
  await clock.advance(300_000);
  const left = (await staying()).length;
  const stopped = simulator.stop();
  await clock.advance(60_000);
  await stopped;
  return { text: journal.lines.join("\n"), lines: journal.lines.length, pods, left, spoiled: faults.count };
}

describe("the journal of a simulator", () => {
  it("is byte-identical for the same seed", async () => {
    const [first, second] = [await run({ seed: 1 }), await run({ seed: 1 })];
    expect(first.lines).toBeGreaterThan(50);
    expect(first.pods).toBe(3);
    expect(second.text).toBe(first.text);
  });

  it("differs for another seed", async () => {
    expect((await run({ seed: 2 })).text).not.toBe((await run({ seed: 1 })).text);
  });

  it("is byte-identical for the same seed with faults, and the final state is that of a run without faults", async () => {
    const shares = { delay: 0.1, reset: 0.03, lose: 0.03, busy: 0.03, duplicate: 0.1, end: 0.1 };
    const [first, second] = [await run({ seed: 3, shares }), await run({ seed: 3, shares })];
    expect(first.spoiled).toBeGreaterThan(5);
    expect(second.text).toBe(first.text);
    expect([first.pods, first.left]).toEqual([3, 0]);
  });
});
