// The replacement of a bare pod, case by case.
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import {
  anApp,
  anIntent,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  asBarePod,
  hungry,
  now,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedPod } from "../model/observed-app.ts";
import { decide } from "./decide.ts";

const intent = anIntent({
  ...{ method: "CopyPod", id: "pod-1/CopyPod/768Mi/1", copy: "memhog-autoscaled", copyUid: "pod-2", atMs: now - 301_000 },
});
const original = (different: Partial<ObservedPod> = {}) =>
  anObservedPod({ name: "memhog", containers: [anObservedContainer(hungry)], ...different });
const bigger = anObservedContainer({ limit: mib(768), request: mib(512), appliedLimit: mib(768), appliedRequest: mib(512) });
const copy = (different: Partial<ObservedPod> = {}) =>
  anObservedPod({
    name: "memhog-autoscaled",
    uid: "pod-2",
    copyOf: "pod-1",
    createdAtMs: now - 60_000,
    containers: [bigger],
    ...different,
  });
const world = (pods: readonly ObservedPod[], different: Partial<ObservedApp> = {}) =>
  asBarePod(anApp({ policies: [aPolicy({ strategy: "Redeploy" })], pods, record: aRecord({ intents: [intent] }), ...different }));
const givenUp = { ...intent, waiting: { reason: "CopyGivenUp" } } as const;
const old = { createdAtMs: now - 300_000, ready: false };

describe("step by step", () => {
  it("M5: an intent from the future is as old as one of now: its copy gets its five minutes and no hour more", () => {
    const ahead = { ...intent, atMs: now + 3_600_000 };
    const { requeueAfterMs } = decide(world([original(), copy({ ready: false })], { record: aRecord({ intents: [ahead] }) }));
    expect(requeueAfterMs).toBeLessThanOrEqual(300_000);
  });

  it.each([
    { name: "no copy yet: create it", pods: [original()], next: [{ do: "createCopy", copy: "memhog-autoscaled" }] },
    { name: "the copy is not Ready: wait", pods: [original(), copy({ ready: false })], next: [] },
    { name: "the copy is Ready: delete the original", pods: [original(), copy()], next: [{ uid: "pod-1", why: "Replaced" }] },
    { name: "the original is being deleted: wait", pods: [original({ deleting: true }), copy()], next: [] },
    { name: "the copy is being deleted by somebody: wait", pods: [original(), copy({ deleting: true })], next: [] },
    {
      name: "five minutes and not Ready: delete the copy",
      pods: [original(), copy(old)],
      next: [{ uid: "pod-2", why: "NotReady" }],
    },
    { name: "D2: the original is gone, the copy not Ready yet: keep it", pods: [copy({ ready: false })], next: [] },
  ])("$name", ({ pods, next }) => {
    const { commands, record } = decide(world(pods));
    expect(commands).toMatchObject(next);
    expect(commands).toHaveLength(next.length);
    expect(record.intents).toHaveLength(1);
  });

  it.each([
    { name: "is not Ready", pod: { ready: false } },
    { name: "is Ready", pod: {} },
  ])("T2: a pod that claims to be the copy and $name is not taken for it", ({ pod }) => {
    const { copyUid: _, ...unmade } = intent;
    const claims = copy({ name: "attacker", uid: "attacker", ...pod });
    for (const one of [unmade, { ...intent, copyUid: "pod-2" }]) {
      const { commands } = decide(world([original(), claims], { record: aRecord({ intents: [one] }) }));
      expect(commands).toMatchObject([{ do: "createCopy", copy: "memhog-autoscaled" }]);
    }
  });

  it.each([
    { name: "we made it a minute ago by a clock that does not step", world: { raisedAgoMs: new Map([["pod-1", 60_000]]) } },
    {
      name: "it was decided a minute ago: the API server's clock is another",
      world: { record: aRecord({ intents: [{ ...intent, atMs: now - 60_000 }] }) },
    },
  ])("M5: a copy keeps its five minutes: $name", ({ world: different }) => {
    expect(decide(world([original(), copy(old)], different)).commands).toEqual([]);
  });

  it("D6: a copy that was given up and becomes Ready at the last moment replaces the original after all (C4)", () => {
    const { commands } = decide(world([original(), copy()], { record: aRecord({ intents: [givenUp] }) }));
    expect(commands).toMatchObject([{ do: "deletePod", uid: "pod-1", why: "Replaced" }]);
  });
});

describe("D6: two copies must not run at the same time", () => {
  it.each(["WritesVolume", "RunsOnce"] as const)("%s: held, and resized in place where that is possible", (copyRisk) => {
    const pods = [original({ copyRisk })];
    const { commands, verdicts, summary } = decide(world(pods, { record: aRecord() }));
    expect(commands).toEqual([]);
    expect(verdicts).toMatchObject([{ decision: { reason: "CopyUnsafe", wanted: { limit: mib(768) } } }]);
    expect(summary).toMatchObject({ phase: "Waiting", reason: "CopyUnsafe" });
    expect(decide(world(pods, { record: aRecord(), policies: [aPolicy()] })).commands).toMatchObject([{ do: "resize" }]);
  });

  it("an intent to copy such a pod, stored by an earlier version or forged, is abandoned", () => {
    const { copyUid: _, ...unmade } = { ...intent, atMs: now - 1_000 };
    const seen = world([original({ copyRisk: "WritesVolume" })], { record: aRecord({ intents: [unmade] }) });
    expect(decide(seen)).toMatchObject({ settled: [{ outcome: "Abandoned" }], commands: [] });
  });
});

describe("D6: a raise that is no longer asked for leaves no twins", () => {
  const withdrawn = { ...intent, waiting: { reason: "CopyWithdrawn" } } as const;
  const another = aPolicy({ name: "another", uid: "another" });
  const unmonitored = { monitored: false };
  const starting = { ready: false };
  const remove = [{ do: "deletePod", uid: "pod-2", why: "Withdrawn" }];

  it.each<{ name: string; pods?: readonly ObservedPod[]; different?: Partial<ObservedApp>; next: readonly object[] }>([
    { name: "the AppMonitor is deleted", different: { policies: [] }, next: remove },
    { name: "two AppMonitors select it", different: { policies: [aPolicy(), another] }, next: remove },
    { name: "the strategy is Recommend now", different: { policies: [aPolicy({ strategy: "Recommend" })] }, next: remove },
    { name: "the original is not monitored", pods: [original(unmonitored), copy(starting)], next: remove },
    { name: "the copy is not monitored", pods: [original(), copy({ ...starting, ...unmonitored })], next: remove },
    { name: "the copy is Ready, too: the original stays", pods: [original(), copy()], different: { policies: [] }, next: remove },
    {
      name: "only the copy is Ready: it stays",
      pods: [original(starting), copy()],
      different: { policies: [] },
      next: [{ do: "deletePod", uid: "pod-1", why: "Replaced" }],
    },
    {
      name: "only the copy is Ready, but the original must not be touched",
      pods: [original({ ...starting, ...unmonitored }), copy()],
      next: remove,
    },
    {
      name: "D2: the original is being deleted",
      pods: [original({ deleting: true }), copy(starting)],
      different: { policies: [] },
      next: [],
    },
    { name: "E4: paused: nothing until it continues", different: { policies: [aPolicy({ paused: true })] }, next: [] },
    { name: "InPlace: what has begun is completed", different: { policies: [aPolicy({ strategy: "InPlace" })] }, next: [] },
  ])("$name", ({ pods = [original(), copy(starting)], different = {}, next }) => {
    const { commands, record } = decide(world(pods, different));
    expect(commands).toMatchObject(next);
    expect(commands).toHaveLength(next.length);
    expect(record.intents).toHaveLength(1);
  });

  it("a copy that was created just before a crash is found by its name and label", () => {
    const { copyUid: _, ...unmade } = intent;
    const { commands } = decide(world([original(), copy(starting)], { policies: [], record: aRecord({ intents: [unmade] }) }));
    expect(commands).toMatchObject(remove);
  });

  it.each([
    { name: "nobody asks for it", policies: [] },
    { name: "somebody asks for it again", policies: [aPolicy()] },
  ])("goes on once it is recorded, and ends when the copy is gone: $name (C1)", ({ policies }) => {
    const record = aRecord({ intents: [withdrawn] });
    expect(decide(world([original(), copy(starting)], { policies, record })).commands).toMatchObject(remove);
    expect(decide(world([original()], { policies, record })).settled).toMatchObject([{ outcome: "Abandoned" }]);
  });

  it("is not begun again at once: somebody may have exempted the copy", () => {
    const { record } = decide(world([original()], { record: aRecord({ intents: [withdrawn] }) }));
    const again = (nowMs: number) => decide(world([original()], { record, nowMs })).commands;
    expect(again(now + 299_000)).toEqual([]);
    expect(again(now + 300_000)).toMatchObject([{ do: "createCopy" }]);
  });

  it.each([
    { name: "and the copy is Ready", pods: [copy()], outcome: "Applied" },
    { name: "and the original has ended", pods: [original({ phase: "Failed" }), copy(starting)], outcome: "Abandoned" },
  ])("D2: the copy stays if the original is gone $name", ({ pods, outcome }) => {
    expect(decide(world(pods, { policies: [] }))).toMatchObject({ commands: [], settled: [{ outcome }] });
  });
});

describe("the end", () => {
  it.each([
    { name: "the copy is Ready and alone: Applied", pods: [copy()], outcome: "Applied" },
    { name: "both are gone: Abandoned", pods: [], outcome: "Abandoned" },
    {
      name: "somebody deletes the pod before there is a copy: Abandoned",
      pods: [original({ deleting: true })],
      outcome: "Abandoned",
    },
    { name: "D2: alone and never Ready: NotReady, and it stays", pods: [copy(old)], outcome: "NotReady" },
  ])("$name", ({ pods, outcome }) => {
    const { commands, settled } = decide(world(pods));
    expect(settled).toMatchObject([{ outcome }]);
    expect(commands).toEqual([]);
  });

  it("a copy that was given up is gone: NotReady, and the next try waits, longer each time", () => {
    const first = decide(world([original()], { record: aRecord({ intents: [givenUp] }) }));
    expect(first.settled).toMatchObject([{ outcome: "NotReady" }]);
    expect(first.verdicts).toMatchObject([{ decision: { reason: "ReplacementNotReady" } }]);
    expect(first).toMatchObject({ commands: [], requeueAfterMs: 300_000 });
    const second = decide(world([original()], { record: first.record, nowMs: now + 300_000 }));
    expect(second.record.intents).toMatchObject([{ attempt: 2, copy: "memhog-autoscaled" }]);
    const again = { ...second.record, intents: second.record.intents.map((one) => ({ ...one, waiting: givenUp.waiting })) };
    expect(decide(world([original()], { record: again, nowMs: now + 600_000 })).requeueAfterMs).toBe(600_000);
  });
});

describe("a refusal", () => {
  const refused = { ...intent, waiting: { reason: "Refused", message: "cannot delete pods" } } as const;

  it("ends it while there is no copy, and the same is not tried again at once (A1)", () => {
    const { settled, verdicts, commands } = decide(world([original()], { record: aRecord({ intents: [refused] }) }));
    expect(settled).toMatchObject([{ outcome: "Refused" }]);
    expect(verdicts).toMatchObject([{ decision: { reason: "Refused" } }]);
    expect(commands).toEqual([]);
  });

  it("is waited out where the copy is there: neither forgotten nor a hot loop", () => {
    const pods = [original(), copy()];
    const record = aRecord({ intents: [{ ...refused, atMs: now - 1_000 }] });
    expect(decide(world(pods, { record }))).toMatchObject({ commands: [], settled: [], summary: { reason: "Refused" } });
    expect(decide(world(pods, { record, nowMs: now + 300_000 })).commands).toMatchObject([{ why: "Replaced" }]);
  });
});

describe("the name of a copy", () => {
  const first = (name: string, app = "memhog", different: Partial<ObservedApp> = {}) => {
    const seen = world([original({ name })], { record: aRecord(), ...different });
    return decide({ ...seen, app: { ...seen.app, name: app } }).commands.map(
      (command) => command.do === "createCopy" && command.copy,
    );
  };

  it.each([
    { of: "memhog", copy: "memhog-autoscaled" },
    { of: "memhog-autoscaled", copy: "memhog-autoscaled-2" },
    { of: "memhog-autoscaled-2", copy: "memhog-autoscaled-3" },
  ])("$of → $copy", ({ of, copy: name }) => expect(first(of)).toEqual([name]));

  it("is valid and another one even where names are as long as they may be", () => {
    const long = "a".repeat(253);
    const [once] = first(long, long);
    const [twice] = first(String(once), long);
    expect(String(once).length).toBeLessThanOrEqual(253);
    expect(String(twice).length).toBeLessThanOrEqual(253);
    expect(new Set([long, once, twice]).size).toBe(3);
  });

  it("skips a name that turned out to be somebody else's", () => {
    const taken = { ...intent, waiting: { reason: "NameTaken" } } as const;
    const { record } = decide(world([original()], { record: aRecord({ intents: [taken] }) }));
    expect(first("memhog", "memhog", { record, nowMs: now + 300_000 })).toEqual(["memhog-autoscaled-2"]);
  });
});
