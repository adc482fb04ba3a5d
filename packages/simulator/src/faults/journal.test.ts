import { Deployment, Node, Pod } from "@memhog/runtime";
import { manualEnvironment, seededRandom } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { startSimulator } from "../simulator.ts";
import { wholeCluster } from "../whole-cluster.ts";
import { type FaultShares, randomFaults } from "./fault.ts";
import { makeFaults } from "./faults.ts";
import { serverJournal } from "./journal.ts";

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

/** A rollout, a change of mind and a deletion, over ten minutes; everything that was said about it. */
async function run({ seed, shares = {} }: { readonly seed: number; readonly shares?: FaultShares }) {
  const environment = manualEnvironment({ seed });
  const { clock } = environment;
  const journal = serverJournal(clock);
  const chance = randomFaults(seededRandom(seed), shares);
  const faults = makeFaults({ clock });
  const middleware = [journal.middleware, faults.middleware];
  const simulator = await startSimulator({ environment, middleware, parts: wholeCluster() });
  const client = simulator.client({ userAgent: "tester" });
  // The test's own hand is steady: faults are for everybody else, once time passes.
  faults.plan = (request) => (request.userAgent.startsWith("tester") ? undefined : chance(request));
  await client.create(Node, node as never);
  await client.create(Deployment, deployment);
  await clock.advance(300_000);
  // Nobody plays the kubelet here, so a pod that is to go only says so.
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
  it("is the same for the same seed, byte by byte", async () => {
    const [first, second] = [await run({ seed: 1 }), await run({ seed: 1 })];
    expect(first.lines).toBeGreaterThan(50);
    expect(first.pods).toBe(3);
    expect(second.text).toBe(first.text);
  });

  it("is another one for another seed", async () => {
    expect((await run({ seed: 2 })).text).not.toBe((await run({ seed: 1 })).text);
  });

  it("is the same for the same seed with faults, and the world ends as without", async () => {
    const shares = { delay: 0.1, reset: 0.03, lose: 0.03, busy: 0.03, duplicate: 0.1, end: 0.1 };
    const [first, second] = [await run({ seed: 3, shares }), await run({ seed: 3, shares })];
    expect(first.spoiled).toBeGreaterThan(5);
    expect(second.text).toBe(first.text);
    expect([first.pods, first.left]).toEqual([3, 0]);
  });
});
