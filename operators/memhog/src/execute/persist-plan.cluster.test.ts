import { ConflictError, Deployment, type Stored } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { readRecord } from "../api/stored-record.ts";
import { mib } from "../model/bytes.ts";
import { anAction, anApp, anIntent, anObservedPod, aRecord, now } from "../model/observed-app.fixture.ts";
import { aPlan } from "../model/plan.fixture.ts";
import type { AppRecord, Plan } from "../model/plan.ts";
import { persistPlan } from "./persist-plan.ts";
import { stage } from "./stage.fixture.ts";

const name = "deployment-memhog";
const planTo = (record: Partial<AppRecord>): Plan => aPlan({ record: aRecord(record) });
const full: AppRecord = {
  learned: [{ container: "memhog", limit: mib(768), request: mib(512), atMs: now }],
  intents: [anIntent({ copy: "memhog-autoscaled", waiting: { reason: "ResizeDeferred" }, limitsApplied: true })],
  actions: [
    anAction({
      changes: anAction().changes.map((change) => ({ ...change, measured: { usage: mib(300), atMs: now - 9, restart: 2 } })),
    }),
    anAction({ outcome: "NotReady", message: "5 minutes were not enough" }),
  ],
  kills: [{ uid: "pod-1", container: "memhog", restart: 3 }],
  given: [{ uid: "pod-1", container: "memhog", limit: mib(768.5) }],
  shrinks: [
    {
      ...{ pod: { name: "web", uid: "u" }, container: "main", atMs: 1_800_000_000_000, state: "Applied" },
      ...{ from: { limit: mib(768), request: mib(512) }, to: { limit: mib(768), request: mib(300) } },
    },
  ],
  reverts: 1,
  stops: [{ reason: "SuspectedLeak", atMs: now + 1, uid: "pod-1", monitorUid: "m", monitorGeneration: 2 }],
  raises: 7,
  oomKills: 3,
};

/** With the Deployment: the garbage collector would not wait long for an owner that was never there. */
async function stageWithOwner() {
  const at = await stage();
  const { client, namespace } = at;
  const labels = { app: "memhog" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "memhog", image: "example.com/none" }] } };
  const spec = { replicas: 0, selector: { matchLabels: labels }, template };
  const { metadata } = await client.create(Deployment, { metadata: { namespace, name: "memhog" }, spec });
  return { ...at, owner: metadata.uid };
}
type Stage = Awaited<ReturnType<typeof stageWithOwner>>;

function seenOn({ namespace, owner }: Stage, different: Parameters<typeof anApp>[0] = {}) {
  const seen = anApp({ app: { kind: "Deployment", namespace, name: "memhog" } });
  return { ...seen, template: seen.template && { ...seen.template, uid: owner }, ...different };
}
const memoryOf = ({ client, namespace }: Stage) => client.find(AppMemory, { namespace, name });
/** remember() as often as there are plans, each on what the one before left. */
async function rememberAll(at: Stage, plans: readonly Plan[], seen = seenOn(at)) {
  let stored: Stored<AppMemory> | undefined;
  for (const plan of plans) stored = await persistPlan({ client: at.client, name, stored }, seen, plan);
  return stored;
}

describe("remembering a plan", () => {
  it("makes the AppMemory of the app, which goes with its owner, and gives back all that was stored (C3)", async () => {
    await using at = await stageWithOwner();
    const stored = await rememberAll(at, [planTo(full)]);
    expect(stored).toEqual(await memoryOf(at));
    expect(readRecord(stored)).toEqual(full);
    expect(stored).toMatchObject({
      metadata: {
        ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "memhog", uid: at.owner, controller: false }],
      },
      spec: { app: "Deployment/memhog" },
      status: { phase: "Watching", reason: "BelowThreshold", limit: "384Mi", conditions: [{ type: "Settled", status: "True" }] },
    });
  });

  it("writes nothing where nothing changed, whatever the server made of what was written (E1)", async () => {
    await using at = await stageWithOwner();
    const first = await rememberAll(at, [planTo(full)]);
    const live = await memoryOf(at);
    const moved = aPlan({ record: full, summary: { ...aPlan().summary, message: "101Mi of 384Mi are used" } });
    for (let pass = 0; pass < 100; pass += 1) {
      const later = seenOn(at, { nowMs: now + pass * 15_000 });
      expect(await persistPlan({ client: at.client, name, stored: live }, later, moved)).toBe(live);
    }
    expect((await memoryOf(at))?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
  });

  it("lets one of two leaders win; the other does nothing and reads again (L1)", async () => {
    await using at = await stageWithOwner();
    const stored = await rememberAll(at, [planTo({})]);
    const mine = planTo({ intents: [anIntent({ id: "mine" })] });
    const theirs = planTo({ intents: [anIntent({ id: "theirs" })] });
    const both = [mine, theirs].map((plan) => persistPlan({ client: at.client, name, stored }, seenOn(at), plan));
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: expect.any(ConflictError) });
    expect(readRecord(await memoryOf(at)).intents).toHaveLength(1);
  });

  it("lets one of two leaders win where there was no AppMemory yet (L1)", async () => {
    await using at = await stageWithOwner();
    const both = [1, 2].map((raises) =>
      persistPlan({ client: at.client, name, stored: undefined }, seenOn(at), planTo({ raises })),
    );
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const { raises } = readRecord(await memoryOf(at));
    expect([1, 2]).toContain(raises);
    // And one that comes late, with a cache that has not seen it.
    const late = persistPlan({ client: at.client, name, stored: undefined }, seenOn(at), planTo({ raises: 3 }));
    await expect(late).rejects.toThrow(ConflictError);
    expect(readRecord(await memoryOf(at)).raises).toBe(raises);
  });

  it("says nothing about an app that is gone while nothing is open", async () => {
    await using at = await stageWithOwner();
    expect(await rememberAll(at, [aPlan({ verdicts: [] })], seenOn(at, { pods: [] }))).toBeUndefined();
    expect(await memoryOf(at)).toBeUndefined();
  });

  it("makes no AppMemory for an app whose owner is gone: nothing would ever delete it", async () => {
    await using at = await stageWithOwner();
    expect(await rememberAll(at, [planTo({ raises: 1 })], seenOn(at, { template: undefined }))).toBeUndefined();
    const going = anObservedPod({ deleting: true });
    const barePod = {
      app: { kind: "Pod", namespace: at.namespace, name: "hungry" },
      template: undefined,
      pods: [going],
    } as const;
    expect(await rememberAll(at, [planTo({ raises: 1 })], seenOn(at, barePod))).toBeUndefined();
    expect(await memoryOf(at)).toBeUndefined();
  });

  it("of a bare pod belongs to the pod and its copies, as far as they are there", async () => {
    await using at = await stageWithOwner();
    const [original, copy] = [await at.make("hungry"), await at.make("hungry-autoscaled")];
    const seen = (...pods: readonly (typeof copy)[]) => {
      const of = pods.map(({ metadata }) => anObservedPod({ name: metadata.name, uid: metadata.uid }));
      return seenOn(at, { app: { kind: "Pod", namespace: at.namespace, name: "hungry" }, template: undefined, pods: of });
    };
    const owners = (stored: Stored<AppMemory> | undefined) => stored?.metadata.ownerReferences?.map((owner) => owner.name);
    let stored = await persistPlan({ client: at.client, name, stored: undefined }, seen(original), planTo({}));
    expect(owners(stored)).toEqual(["hungry"]);
    stored = await persistPlan({ client: at.client, name, stored }, seen(original, copy), planTo({ raises: 1 }));
    expect(owners(stored)).toEqual(["hungry", "hungry-autoscaled"]);
    await at.cluster.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "hungry", namespace: at.namespace } });
    await at.cluster.eventually(
      () => at.get("hungry"),
      (found) => found === undefined,
    );
    expect(readRecord(await memoryOf(at)).raises).toBe(1);
    await at.cluster.delete({ apiVersion: "v1", kind: "Pod", metadata: { name: "hungry-autoscaled", namespace: at.namespace } });
    await at.cluster.eventually(
      () => memoryOf(at),
      (found) => found === undefined,
    );
  });
});
