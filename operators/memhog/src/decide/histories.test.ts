// Whatever happens, in whatever order: what holds of every decision on the way.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ObservedApp, ObservedPod } from "../model/observed-app.ts";
import type { Command, Plan } from "../model/plan.ts";
import { decide } from "./decide.ts";
import { happen, histories, worlds } from "./histories.fixture.ts";
import { takesSlot } from "./methods.ts";
import { pass, type Run, runToEnd, settled } from "./world.fixture.ts";

/** Lets every history happen, and asks at each decision on the way. */
function always(check: (seen: ObservedApp, plan: Plan) => void, numRuns = 150) {
  fc.assert(
    fc.property(worlds, histories, (world, history) => {
      let run: Run = { world, effects: [] };
      for (const { events, writes } of history) {
        const seen = events.reduce(happen, run.world);
        const next = pass({ ...run, world: seen }, writes);
        check(seen, next.plan);
        run = { ...next, world: { ...next.world, nowMs: next.world.nowMs + 1_000 } };
      }
    }),
    { numRuns },
  );
}

it("C1: deciding again on the stored record changes neither the record nor the commands", () => {
  always((seen, plan) => {
    const again = decide({ ...seen, record: plan.record });
    expect(again.record).toEqual(plan.record);
    expect(again.commands).toEqual(plan.commands);
    expect(again.settled).toEqual([]);
  });
});

it("C1, C4: crashes at random writes end in the same world, with the same effects", () => {
  const crashes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 8 });
  fc.assert(
    fc.property(worlds, crashes, (restless, writes) => {
      // Otherwise it would move by itself, and whoever comes later would rightly decide something else.
      const world = onNodesOfTheirOwn(settled(restless));
      const [calm, crashed] = [runToEnd(world), runToEnd(world, writes)];
      // Of two roads at once the later one decides which new pods know what was learned on the other.
      fc.pre(!calm.effects.includes("patchTemplate") || !calm.effects.some((effect) => effect.startsWith("resize")));
      expect(crashed.effects.toSorted()).toEqual(calm.effects.toSorted());
      expect(sizesIn(crashed.world)).toEqual(sizesIn(calm.world));
      expect(crashed.world.record.raises).toBe(calm.world.record.raises);
    }),
    { numRuns: 150 },
  );
});

// Two pods that share what room a node has get it in the order in which they ask.
const onNodesOfTheirOwn = (world: ObservedApp): ObservedApp => ({
  ...world,
  pods: world.pods.map((pod) => ({ ...pod, node: pod.node && { ...pod.node, name: pod.name } })),
});

const sizesIn = ({ pods, template }: ObservedApp) => ({
  pods: pods.map((pod) => [pod.name, pod.containers.map(({ limit, request }) => [limit, request])]),
  template: template?.containers,
});

it("E4: no command while paused; none under Recommend or without an AppMonitor but to undo; none about a pod that is not monitored", () => {
  always((seen, { commands }) => {
    const [policy] = seen.policies;
    if (policy?.paused) expect(commands).toEqual([]);
    if (policy === undefined || policy.strategy === "Recommend")
      expect(commands.filter((command) => !undoes(command))).toEqual([]);
    const touched = new Set(commands.map(podOf));
    const copies = new Set(seen.record.intents.map(({ copyUid }) => copyUid));
    for (const pod of seen.pods) if (!pod.monitored && !copies.has(pod.uid)) expect(touched.has(pod.uid)).toBe(false);
  });
});

const undoes = ({ do: what, intent }: Command): boolean =>
  what === "restoreTemplate" ||
  (what === "evict" && intent.waiting?.reason === "RollingBack") ||
  (what === "deletePod" && (intent.waiting?.reason === "CopyWithdrawn" || intent.waiting?.reason === "OriginalTerminating"));

const podOf = (command: Command): string =>
  "uid" in command ? command.uid : command.intent.method === "Template" ? "" : command.intent.pod.uid;

it("D2, C4: an original is deleted only while its copy is Ready, a copy only while its original is there; never two copies", () => {
  always((seen, { commands }) => {
    for (const command of commands) {
      if (command.do === "createCopy") expect(seen.pods.filter((pod) => pod.copyOf === command.intent.pod.uid)).toEqual([]);
      if (command.do !== "deletePod") continue;
      const doomed = seen.pods.find((pod) => pod.uid === command.uid);
      const others = seen.pods.filter((pod) => pod !== doomed && (pod.copyOf === doomed?.uid || pod.uid === doomed?.copyOf));
      expect(others.length, command.why).toBe(1);
      if (command.why === "Replaced") expect(others[0]).toMatchObject({ ready: true, deleting: false });
    }
    for (const pod of seen.pods) expect(seen.pods.filter((one) => one.copyOf === pod.uid).length).toBeLessThan(2);
  });
});

it("D3: at most three pods of an app at a time in place, one otherwise, ten in the cluster, one intent per pod", () => {
  always((seen, { record }) => {
    const before = new Set(seen.record.intents.map(({ id }) => id));
    const open = record.intents.filter((intent) => !intent.limitsApplied);
    const begun = open.filter(({ id }) => !before.has(id));
    if (begun.length > 0) {
      expect(open.length).toBeLessThanOrEqual(open.every(({ method }) => method === "InPlace") ? 3 : 1);
      const { namespace, cluster, otherNamespaces } = seen.underWayElsewhere;
      const own = open.filter((intent) => takesSlot(seen, intent)).length;
      const isFirst = namespace + own <= 1;
      expect(isFirst || own + cluster <= 10).toBe(true);
      expect(isFirst || own + namespace <= Math.max(1, 10 / (otherNamespaces + 1))).toBe(true);
    }
    expect(new Set(record.intents.map(({ pod }) => pod.uid)).size).toBe(record.intents.length);
    expect(new Set(record.intents.map(({ id }) => id)).size).toBe(record.intents.length);
  });
});

it("T2: nobody waits for a slot in a namespace that has none", () => {
  always((seen, { record, verdicts }) => {
    if (seen.underWayElsewhere.namespace > 0 || record.intents.some((intent) => !intent.limitsApplied)) return;
    const restarting = seen.pods.filter(({ containers }) => containers.some(({ restartsOnResize }) => restartsOnResize));
    const held = verdicts.filter(({ decision }) => decision.reason === "Busy").map(({ pod }) => pod.uid);
    expect(held.filter((uid) => !restarting.some((pod) => pod.uid === uid))).toEqual([]);
  });
});

it("D2: no template is patched where its rollout would take away all that are Ready", () => {
  always((seen, { commands }) => {
    const { maxUnavailable = 0, replicas = 0 } = seen.template ?? {};
    if (!commands.some((command) => command.do === "patchTemplate") || maxUnavailable === 0) return;
    const ready = seen.pods.filter((pod) => pod.ready && !pod.deleting && pod.phase === "Running");
    expect(ready.length === 0 || replicas > maxUnavailable).toBe(true);
  });
});

it("D1: a Ready pod is evicted only while all others are Ready, and there are others", () => {
  always((seen, { commands }) => {
    for (const command of commands) {
      if (command.do !== "evict") continue;
      const others = seen.pods.filter((pod) => pod.uid !== command.uid);
      const doomed = seen.pods.find((pod) => pod.uid === command.uid);
      if (doomed?.ready) expect(others.length > 0 && others.every((pod) => pod.ready && !pod.deleting)).toBe(true);
    }
  });
});

it("nobody gets less than the spec asks for, nor a request above the limit, and the lists stay short", () => {
  always((seen, { record, commands }) => {
    for (const { changes, limitsApplied } of record.intents) {
      for (const { from, to } of changes) {
        expect(to.limit).toBeGreaterThanOrEqual(from.limit);
        if (!limitsApplied) expect(to.request ?? 0).toBeGreaterThanOrEqual(from.request ?? 0);
        expect(to.request ?? 0).toBeLessThanOrEqual(to.limit);
      }
    }
    for (const command of commands)
      if (command.do === "resize" && command.step !== "requests") expect(shrinks(seen.pods, command)).toBe(false);
    expect(record.actions.length).toBeLessThanOrEqual(50);
    const uids = new Set([...seen.pods.map(({ uid }) => uid), seen.template?.uid]);
    const paused = seen.policies.some((policy) => policy.paused);
    if (!paused) for (const { uid } of [...record.kills, ...record.given]) expect(uids.has(uid)).toBe(true);
  });
});

function shrinks(pods: readonly ObservedPod[], { intent }: Command): boolean {
  const pod = pods.find(({ uid }) => uid === intent.pod.uid);
  return intent.changes.some((change) => {
    const container = pod?.containers.find(({ name }) => name === change.container);
    return change.to.limit < (container?.limit ?? 0) && !intent.limitsApplied;
  });
}

it("raises and counted kills never become fewer", () => {
  always((seen, { record }) => {
    expect(record.raises).toBeGreaterThanOrEqual(seen.record.raises);
    expect(record.oomKills).toBeGreaterThanOrEqual(seen.record.oomKills);
  });
});
