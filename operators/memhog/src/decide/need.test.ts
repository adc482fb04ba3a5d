// G2: a kill is found by looking, answered once, and not answered for ever.
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { anAction, anAppWith, anIntent, aPolicy, aRecord, now, samplesOf } from "../model/observed-app.fixture.ts";
import type { AppKind, ObservedApp, ObservedContainer, ObservedOomKill, ObservedPod } from "../model/observed-app.ts";
import type { AppRecord } from "../model/plan.ts";
import { live, schedules } from "./ramps.fixture.ts";
import { decisionOf, reasonOf } from "./verdict.fixture.ts";

interface Scene {
  readonly name: string;
  readonly kill?: Partial<ObservedOomKill>;
  readonly container?: Partial<ObservedContainer>;
  readonly pod?: Partial<ObservedPod>;
  readonly record?: Partial<AppRecord>;
  readonly app?: Partial<ObservedApp>;
  readonly reason: string;
}

const down: Partial<ObservedContainer> = { running: false, samples: [] };
const before137 = { cluster: { inPlace: true, resizeAfterOomKill: false } };
const of = (kind: AppKind) => ({ app: { kind, namespace: "demo", name: "memhog" } });
const raisedAt = (atMs: number, different = {}) => anAction({ atMs, ...different });

const scenes: readonly Scene[] = [
  {
    name: "G2: raises at once, without metrics",
    app: { metrics: { available: false, freshForMs: 60_000 } },
    reason: "OutOfMemory",
  },
  { name: "G2: raises without a sample", container: { samples: [] }, reason: "OutOfMemory" },
  { name: "G2: raises though a cooldown is on", record: { actions: [raisedAt(now - 30_000)] }, reason: "OutOfMemory" },
  {
    name: "G2: answers a kill once",
    record: { kills: [{ uid: "pod-1", container: "memhog", restart: 2 }] },
    reason: "BelowThreshold",
  },
  {
    name: "G2: answers the next kill",
    record: { kills: [{ uid: "pod-1", container: "memhog", restart: 1 }] },
    reason: "OutOfMemory",
  },
  {
    name: "answers the kill of another pod",
    record: { kills: [{ uid: "pod-0", container: "memhog", restart: 9 }] },
    reason: "OutOfMemory",
  },
  {
    name: "answers the kill of another container",
    record: { kills: [{ uid: "pod-1", container: "proxy", restart: 9 }] },
    reason: "OutOfMemory",
  },
  { name: "answers an old kill at first sight", kill: { atMs: now - 86_400_000 }, reason: "OutOfMemory" },
  {
    name: "does not answer an old kill that a raise followed",
    kill: { atMs: now - 900_000 },
    record: { actions: [raisedAt(now - 600_000)] },
    reason: "BelowThreshold",
  },
  {
    name: "does not answer a kill that came while the raise was on its way",
    kill: { atMs: now - 598_000 },
    record: { actions: [raisedAt(now - 600_000)] },
    reason: "BelowThreshold",
  },
  {
    name: "answers an old kill if the raise after it failed",
    kill: { atMs: now - 900_000 },
    record: { actions: [raisedAt(now - 600_000, { outcome: "Refused" })] },
    reason: "OutOfMemory",
  },
  { name: "waits for the raise that is under way", record: { intents: [anIntent()] }, reason: "ResizeInProgress" },
  { name: "raises a container that is down, where Kubernetes can", container: down, reason: "OutOfMemory" },
  {
    name: "raises a container that is down by a redeployment, where Kubernetes cannot resize it",
    container: down,
    app: before137,
    reason: "OutOfMemory",
  },
  {
    name: "waits until it runs again under InPlace, where Kubernetes cannot resize it",
    container: down,
    app: { ...before137, policies: [aPolicy({ strategy: "InPlace" })] },
    reason: "NotRunning",
  },
  {
    name: "waits until it runs again where nobody may edit the owner",
    container: down,
    app: { ...before137, ...of("Job") },
    reason: "NotRunning",
  },
  { name: "raises what runs again", app: { ...before137, policies: [aPolicy({ strategy: "InPlace" })] }, reason: "OutOfMemory" },
  { name: "leaves a pod alone that has ended", container: down, pod: { phase: "Failed" }, app: of("Job"), reason: "NotRunning" },
  {
    name: "helps the next run of a CronJob",
    container: down,
    pod: { phase: "Failed" },
    app: of("CronJob"),
    reason: "OutOfMemory",
  },
  {
    name: "helps the next run of a CronJob once: its template has more by now",
    container: { ...down, limit: mib(200) },
    pod: { phase: "Failed" },
    app: of("CronJob"),
    reason: "NotRunning",
  },
  {
    name: "stays an advice where we only recommend, counted or not",
    record: { kills: [{ uid: "pod-1", container: "memhog", restart: 2 }] },
    app: { policies: [aPolicy({ strategy: "Recommend" })] },
    reason: "RecommendOnly",
  },
  { name: "G2: stops after three raises that did not help", record: { actions: answers(3) }, reason: "RaisesIneffective" },
  { name: "G2: does not stop after two", record: { actions: answers(2) }, reason: "OutOfMemory" },
  {
    name: "G2: does not stop where other raises are among the three",
    record: { actions: [...answers(2), raisedAt(now - 700_000)] },
    reason: "OutOfMemory",
  },
  {
    name: "G2: does not stop for raises of yesterday",
    record: { actions: answers(3).map((each) => ({ ...each, atMs: each.atMs - 86_400_000 })) },
    reason: "OutOfMemory",
  },
];

it.each(scenes)("$name", (scene) => expect(reasonOf(killed(scene))).toBe(scene.reason));

describe("the raise", () => {
  it("goes as far as the app is known to need, where the pod was made after that was known", () => {
    const learned = [{ container: "memhog", limit: mib(2048), request: mib(600), atMs: now - 7_200_000 }];
    expect(decisionOf(killed({ record: { learned } }))).toMatchObject({
      reason: "OutOfMemory",
      granted: { limit: mib(2048), request: mib(600) },
    });
  });

  it("is one step up from what the container has", () => {
    expect(decisionOf(killed({}))).toEqual({
      kind: "raise",
      reason: "OutOfMemory",
      detail: "OOM-killed at 384Mi, after 2 restarts",
      from: { limit: mib(384), request: mib(256) },
      wanted: { limit: mib(768), request: mib(512) },
      granted: { limit: mib(768), request: mib(512) },
    });
  });
});

function killed({ kill, container, pod, record, app }: Omit<Scene, "name" | "reason">): ObservedApp {
  const oomKill = { restart: 2, atMs: now - 1_000, stillDown: container?.running === false, ...kill };
  const seen = { restarts: 3, samples: samplesOf([50, 50]), oomKill, ...container };
  return anAppWith(seen, { record: aRecord(record), ...app }, pod);
}

function answers(count: number) {
  return Array.from({ length: count }, (_, i) => raisedAt(now - 600_000 - i * 60_000, { reason: "OutOfMemory" }));
}

// Many lives of one container, whenever the kubelet and we happen to look: whoever keeps growing is never too late, and one jump is
// answered once.

describe.each([1.2, 1.5, 2, 3])("an endless ramp, times %d", (multiplier) => {
  const policy = { multiplier, maxRaisesPerHour: 1000 };
  it.each([0.5, 1, 2, 5, 10])("of %d MiB/s is never killed", (rate) => {
    const life = { uses: (second: number) => rate * second, seconds: Math.floor(3_000 / rate), policy };
    expect(schedules.filter((schedule) => live(life, schedule).killed)).toEqual([]);
  });
});

describe("one jump is answered once", () => {
  it.each([
    { name: "at the start, to 150 MiB", at: 2, from: 5, to: 150 },
    { name: "at the start, beyond the threshold", at: 2, from: 5, to: 300 },
    { name: "at the start, nearly to the limit", at: 4, from: 5, to: 370 },
    { name: "soon after the start", at: 20, from: 100, to: 300 },
    { name: "later", at: 100, from: 100, to: 300 },
  ])("$name", ({ at, from, to }) => {
    const life = { uses: (second: number) => (second < at ? from : to), seconds: 300 };
    const lives = schedules.map((schedule) => live(life, schedule));
    expect(lives.filter(({ killed, limits }) => killed || limits.length > 1)).toEqual([]);
    expect(lives.some(({ limits }) => limits.length === 1)).toBe(true);
  });
});

describe("G6: a ramp is seen whatever came before it", () => {
  it.each([2, 5, 10])("a ramp of %d MiB/s after two idle minutes is never killed", (rate) => {
    const uses = (second: number) => (second < 120 ? 20 : 20 + rate * (second - 120));
    const life = { uses, seconds: 120 + Math.floor(3_000 / rate), policy: { maxRaisesPerHour: 1000 } };
    expect(schedules.filter((schedule) => live(life, schedule).killed)).toEqual([]);
  });
});

describe("G6: growth that may be over is not extrapolated", () => {
  it("a start with 200 MiB that stands still is not raised", () => {
    const life = { uses: (second: number) => (second < 1 ? 5 : 200), seconds: 300 };
    expect(schedules.filter((schedule) => live(life, schedule).limits.length > 0)).toEqual([]);
  });

  // Until 468 MiB there is time to wait for the next sample, whatever the schedule.
  it("a ramp of 10 MiB/s that ends at 465 MiB is raised once", () => {
    const uses = (second: number) => Math.min(465, 10 * second);
    expect(schedules.filter((schedule) => live({ uses, seconds: 300 }, schedule).limits.length !== 1)).toEqual([]);
  });
});
