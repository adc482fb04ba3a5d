// Rollouts by memhog that get stuck are undone: the template is set back, and the app is as available as before.
// On the simulator, because each case takes many minutes; the stuck rollout on a real node is in test/e2e.
import { Deployment, type Pod, StatefulSet } from "@memhog/runtime";
import { ResourceQuota } from "@memhog/runtime/kinds";
import { moments } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { effectsOf, endOf } from "./effects.fixture.ts";
import { hogDeployment, sizeOf } from "./hogs.fixture.ts";
import { census, isReady } from "./pod-history.fixture.ts";
import type { Death } from "./recording-transport.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const web = { namespace: home, name: "web" };
const small = "256Mi/384Mi";

/** Pods of the raised size are never Ready. */
const brokenWhenLarger = {
  count: 2,
  programOf: (pod: Pod) => (sizeOf(pod) === small ? undefined : { ready: [{ fromMs: 0, ok: false }] }),
};

async function redeployed(nodes = brokenWhenLarger) {
  const w = await world({ nodes });
  await w.monitor({ strategy: "Redeploy" });
  return w;
}

const deployment = (w: World, replicas: number, progressDeadlineSeconds = 600) => {
  const { spec } = hogDeployment("web", { replicas, probe: true });
  return w.client.create(Deployment, { metadata: web, spec: { ...spec, progressDeadlineSeconds } });
};

const templateOf = async (w: World) => sizeOf((await w.client.get(Deployment, web)).spec.template as Pod);

/** All pods have their old size and are Ready, and memhog says that it undid the rollout. */
async function expectUndone(w: World, memory: string, replicas: number): Promise<void> {
  const pods = await w.pods();
  expect(pods.map((pod) => [sizeOf(pod), isReady(pod)])).toEqual(Array(replicas).fill([small, true]));
  const status = (await w.memory(memory))?.status;
  expect(status).toMatchObject({ phase: "Waiting", reason: "RolloutUndone", actions: [{ outcome: "NotReady" }] });
  expect(status?.conditions).toMatchObject([{ type: "Settled", status: "False", reason: "Waiting" }]);
  expect([status?.raises, status?.learned, status?.reverts, status?.intents]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  const { conditions } = (await w.client.get(AppMonitor, { namespace: home, name: "johnny-cache" })).status ?? {};
  expect(conditions).toContainEqual(expect.objectContaining({ type: "Degraded", status: "True", reason: "RolloutUndone" }));
  expect(w.heard.some(({ body }) => body.includes('"RolloutUndone"') && body.includes("the rollout was undone"))).toBe(true);
}

describe("D6: a rollout that is stuck", () => {
  it("because new pods never become Ready is undone once, and not tried again at once", async () => {
    await using w = await redeployed();
    await deployment(w, 4);
    await w.pass(30_000);
    const counted = census(w);
    const operator = w.start();
    await w.pass(minutes(12));
    await expectUndone(w, "deployment-web", 4);
    expect(effectsOf([operator])).toEqual({ "PATCH deployments": 2 });
    expect(counted.leastReady).toBeGreaterThanOrEqual(3); // maxUnavailable is 25 % of 4
    await w.pass(minutes(15));
    expect(effectsOf([operator])).toEqual({ "PATCH deployments": 2 });
  });

  it("because a quota was lowered meanwhile is undone within three minutes", async () => {
    await using w = await redeployed({ count: 2, programOf: () => undefined });
    await deployment(w, 6);
    await w.pass(30_000);
    const hard = { "limits.memory": "2400Mi" };
    w.faults.plan = ({ method, path }) => {
      // The quota appears at the moment at which the template is patched.
      if (method === "PATCH" && path.includes("/deployments/")) {
        w.client.create(ResourceQuota, { metadata: { namespace: home, name: "late" }, spec: { hard } }).catch(() => {});
      }
      return undefined;
    };
    w.start();
    await w.pass(minutes(4));
    expect(await templateOf(w)).toBe(small);
    await w.pass(minutes(1));
    expect((await w.pods()).filter(isReady)).toHaveLength(6);
    expect((await w.memory("deployment-web"))?.status).toMatchObject({ actions: [{ outcome: "NotReady" }] });
  });

  it("of a StatefulSet is undone: the broken pod is evicted, because its controller would keep it", async () => {
    await using w = await redeployed();
    const { spec } = hogDeployment("web", { replicas: 3, probe: true });
    await w.client.create(StatefulSet, { metadata: web, spec: { ...spec, serviceName: "web" } });
    await w.pass(30_000);
    const counted = census(w);
    const operator = w.start();
    await w.pass(minutes(13));
    await expectUndone(w, "statefulset-web", 3);
    expect(effectsOf([operator])).toEqual({ "PATCH statefulsets": 2, "POST pods/eviction": 1 });
    expect(counted.leastReady).toBe(2);
  });

  it("is left to a person who edits the memory in the template meanwhile", async () => {
    await using w = await redeployed();
    await deployment(w, 2);
    await w.pass(30_000);
    const operator = w.start();
    await w.pass(minutes(2));
    expect(await templateOf(w)).toBe("512Mi/768Mi");
    const resources = { requests: { memory: "300Mi" }, limits: { memory: "800Mi" } };
    const body = { spec: { template: { spec: { containers: [{ name: "main", resources }] } } } };
    await w.client.patch(Deployment, web, { type: "strategic", body });
    await w.pass(minutes(12));
    expect(await templateOf(w)).toBe("300Mi/800Mi");
    expect(effectsOf([operator])).toEqual({ "PATCH deployments": 1 });
  });

  it("is undone although its AppMonitor is deleted; while that is paused, nothing is written", async () => {
    await using w = await redeployed();
    await deployment(w, 2);
    await w.pass(30_000);
    const operator = w.start();
    await w.pass(minutes(2));
    await w.monitor({ strategy: "Redeploy", paused: true });
    await w.pass(minutes(12));
    expect(await templateOf(w)).toBe("512Mi/768Mi");
    expect(effectsOf([operator])).toEqual({ "PATCH deployments": 1 });
    await w.client.delete(AppMonitor, { namespace: home, name: "johnny-cache" });
    await w.pass(minutes(2));
    expect(await templateOf(w)).toBe(small);
    expect((await w.pods()).filter(isReady)).toHaveLength(2);
  });
});

/** Runs a rollout that is stuck for a minute to its end, optionally with a crash and a second operator. */
async function undone(names: readonly string[], death?: Death) {
  await using w = await redeployed();
  await deployment(w, 2, 60);
  await w.pass(30_000);
  const counted = census(w);
  const operators = names.map((name) => w.start({ name, ...(death && { death }) }));
  const [first] = operators;
  if (first !== undefined) first.voice.onDeath = () => w.clock.after(2_000, () => operators.push(w.start({ name: "memhog-9" })));
  await w.pass(minutes(4));
  const effects = effectsOf(operators);
  return {
    end: await endOf(w, "deployment-web"),
    effects,
    leastReady: counted.leastReady,
    writes: first?.voice.writes.length ?? 0,
  };
}

describe("D6, C1: undoing a rollout", () => {
  it("C1: reaches the same end state whichever write the operator crashes at", { timeout: 600_000 }, async () => {
    const { writes, ...undisturbed } = await undone(["memhog-1"]);
    expect(undisturbed.effects).toEqual({ "PATCH deployments": 2 });
    expect(undisturbed.end.pods.map(({ size, ready }) => [size, ready])).toEqual(Array(2).fill([small, true]));
    for (let atWrite = 1; atWrite <= writes; atWrite += 1) {
      for (const when of moments) {
        const { writes: _, ...disturbed } = await undone(["memhog-1"], { atWrite, when });
        expect({ atWrite, when, ...disturbed }).toEqual({ atWrite, when, ...undisturbed });
      }
    }
  });

  it("L1: two leaders undo it once", async () => {
    const { writes: _, ...one } = await undone(["memhog-1"]);
    const { writes: __, ...two } = await undone(["memhog-1", "memhog-2"]);
    expect(two).toEqual(one);
  });
});
