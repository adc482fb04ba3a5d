// The law "no healthy app is less available because of memhog" over random apps, quotas, rollouts and faults: while memhog redeploys, no
// more pods are missing than the owner's own strategy allows, and in the end all are Ready again. The pods are large enough to run
// without help, so that every pod that is missing is missing because of memhog.
//
// On the simulator: each world is half an hour long. More worlds: AVAILABILITY_WORLDS=200 npx vitest run --project node availability.test
import { Deployment, type Pod, StatefulSet } from "@memhog/runtime";
import { ResourceQuota } from "@memhog/runtime/kinds";
import { seededRandom } from "@memhog/runtime/testing";
import type { TrafficFaultShares } from "@memhog/simulator";
import { expect, it } from "vitest";
import { AppMonitor } from "../../src/api/app-monitor.ts";
import { effectsOf } from "./effects.fixture.ts";
import { hogDeployment, sizeOf } from "./hogs.fixture.ts";
import { census, isReady } from "./pod-history.fixture.ts";
import { home, minutes, type World, world } from "./world.fixture.ts";

const worlds = Number(process.env.AVAILABILITY_WORLDS ?? 8);
const faults: TrafficFaultShares = { delay: 0.05, reset: 0.03, lose: 0.03, busy: 0.03, stale: 0.03, duplicate: 0.05, end: 0.05 };
const web = { namespace: home, name: "web" };
const small = "256Mi/384Mi";

interface Scene {
  readonly kind: "Deployment" | "StatefulSet" | "Pod";
  readonly replicas: number;
  /** Pods that the owner's strategy allows to be missing. */
  readonly maxUnavailable: number;
  readonly surge: number;
  /** Pods of another size never become Ready. */
  readonly breaks: boolean;
  /** MiB of a quota. It is not lowered during a rollout: then even undoing it can lack room. */
  readonly quota: number | undefined;
  readonly faulty: boolean;
  /** What somebody does two minutes later. */
  readonly edit: "none" | "delete" | "pause" | "recommend";
}

function sceneOf(seed: number): Scene {
  const random = seededRandom(seed);
  const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const one = <T>(of: readonly [T, ...T[]]): T => of[whole(0, of.length - 1)] ?? of[0];
  const kind = one<Scene["kind"]>(["Deployment", "Deployment", "StatefulSet", "Pod"]);
  const replicas = kind === "Pod" ? 1 : whole(kind === "StatefulSet" ? 2 : 1, 5);
  const surges = kind === "Deployment" ? whole(1, 3) : 0;
  const missing = kind === "Deployment" ? whole(0, Math.max(0, replicas - 1)) : kind === "StatefulSet" ? 1 : 0;
  const quota = 384 * replicas * (1 + random() * 1.8);
  return {
    ...{ kind, replicas, maxUnavailable: missing, surge: surges, breaks: random() < 0.5 },
    ...{
      quota: random() < 0.6 ? quota : undefined,
      faulty: random() < 0.5,
      edit: one(["none", "none", "delete", "pause", "recommend"]),
    },
  };
}

async function create(w: World, { kind, replicas, maxUnavailable, surge }: Scene): Promise<unknown> {
  const { spec } = hogDeployment("web", { replicas, probe: true });
  if (kind === "StatefulSet") return w.client.create(StatefulSet, { metadata: web, spec: { ...spec, serviceName: "web" } });
  if (kind === "Pod") return w.pod("web", { probe: true });
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: surge, maxUnavailable } } as const;
  return w.client.create(Deployment, { metadata: web, spec: { ...spec, strategy } });
}

async function restrict(w: World, { quota }: Scene): Promise<void> {
  if (quota === undefined) return;
  const hard = { "limits.memory": `${Math.round(quota)}Mi` };
  await w.client.create(ResourceQuota, { metadata: { namespace: home, name: "team" }, spec: { hard } });
}

const edits: Readonly<Record<Scene["edit"], (w: World) => Promise<unknown>>> = {
  none: async () => {},
  delete: (w) => w.client.delete(AppMonitor, { namespace: home, name: "johnny-cache" }),
  pause: (w) => w.monitor({ strategy: "Redeploy", paused: true }),
  recommend: (w) => w.monitor({ strategy: "Recommend" }),
};

async function run(seed: number) {
  const scene = sceneOf(seed);
  const programOf = (pod: Pod) => (scene.breaks && sizeOf(pod) !== small ? { ready: [{ fromMs: 0, ok: false }] } : undefined);
  await using w = await world({ seed, nodes: { count: 3, programOf }, shares: scene.faulty ? faults : {} });
  await w.monitor({ strategy: "Redeploy" });
  await create(w, scene);
  await w.pass(minutes(3));
  await restrict(w, scene);
  await w.pass(minutes(1));
  const counted = census(w);
  const operator = w.start();
  await w.pass(minutes(2));
  await edits[scene.edit](w);
  await w.pass(minutes(12));
  if (scene.edit === "pause") await w.monitor({ strategy: "Redeploy", paused: false });
  await w.pass(minutes(13));
  const ready = (await w.pods()).filter(isReady).length;
  const [raise] = (await w.memory(`${scene.kind.toLowerCase()}-web`))?.status?.actions ?? [];
  const to = raise?.changes[0]?.to;
  return { scene, ready, least: counted.leastReady, to, did: Object.keys(effectsOf([operator])).length > 0 };
}

/**
 * The same rollout by the owner of the Deployment. Under a quota, pods that terminate keep their room, and the simulated controllers may
 * have one pod less than maxUnavailable allows for a moment, whoever patched the template.
 */
async function leastByHand(seed: number, { requests, limits }: { requests: object; limits: object }): Promise<number> {
  const scene = sceneOf(seed);
  await using w = await world({ seed, nodes: { count: 3 } });
  await create(w, scene);
  await w.pass(minutes(3));
  await restrict(w, scene);
  await w.pass(minutes(1));
  const counted = census(w);
  const body = { spec: { template: { spec: { containers: [{ name: "main", resources: { requests, limits } }] } } } };
  await w.client.patch(Deployment, web, { type: "strategic", body });
  await w.pass(minutes(5));
  return counted.leastReady;
}

const sizesOf = (to: { readonly limit: string; readonly request?: string | undefined }) => ({
  requests: { memory: to.request },
  limits: { memory: to.limit },
});

it("D1, D5, D6: no healthy app is less available because of memhog, in random worlds", {
  timeout: 120_000 + worlds * 30_000,
}, async () => {
  let acted = 0;
  // One seed that is always tried, and one that is new in every run; it is part of the message if the law is broken.
  const first = Math.floor(Math.random() * 1_000_000);
  for (let at = 0; at < worlds; at += 1) {
    const seed = at % 2 === 0 ? at : first + at;
    const { scene, ready, least, to, did } = await run(seed);
    acted += did ? 1 : 0;
    const allowed = scene.replicas - scene.maxUnavailable;
    const byHand = least < allowed && scene.kind === "Deployment" && to ? await leastByHand(seed, sizesOf(to)) : allowed;
    const atLeast = Math.min(allowed, byHand);
    expect({ seed, scene, ready, few: least < atLeast && least }).toEqual({ seed, scene, ready: scene.replicas, few: false });
  }
  expect(acted).toBeGreaterThan(worlds / 4);
});
