import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { anApp, anIntent, aPolicy, now } from "../model/observed-app.fixture.ts";
import { cachedObjects } from "./cached.fixture.ts";
import { RaisesInProgress } from "./raises-in-progress.ts";

type Status = NonNullable<AppMemory["status"]>;

const ref = (name: string, namespace = "default") => ({ namespace, name });
const stored = (name: string, intents: readonly object[], namespace = "default") =>
  anObject<AppMemory>(AppMemory, {
    metadata: { name, namespace },
    spec: { app: `Pod/${name}` },
    status: { intents: intents.map((intent) => ({ at: new Date(now).toISOString(), ...intent })) } as unknown as Status,
  });
const app = anApp();
const slot = anIntent({ atMs: now });

describe("raises in progress in other apps", () => {
  it("D3: include stored raises and raises that were just decided", () => {
    const underWay = new RaisesInProgress();
    underWay.note(ref("a"), app, [slot]);
    underWay.note(ref("b"), app, [slot, slot]);
    const cached = cachedObjects(stored("b", [{}]), stored("c", [{}]));
    const counts = ["a", "b", "c", "d"].map((name) => underWay.elsewhere(ref(name), cached, now).cluster);
    expect(counts).toEqual([3, 2, 3, 4]);
  });

  it("T2: are counted per namespace", () => {
    const underWay = new RaisesInProgress();
    underWay.note(ref("a", "one"), app, [slot, slot]);
    const cached = cachedObjects(stored("b", [{}], "two"), stored("c", [{}, {}, {}], "three"));
    expect(underWay.elsewhere(ref("x", "one"), cached, now)).toEqual({ namespace: 2, cluster: 6, otherNamespaces: 2 });
    expect(underWay.elsewhere(ref("x", "new"), cached, now)).toEqual({ namespace: 0, cluster: 6, otherNamespaces: 3 });
  });

  it("do not include raises that wait, have their limits applied, or are finished", () => {
    const underWay = new RaisesInProgress();
    underWay.note(ref("a"), app, [slot]);
    underWay.note(ref("a"), app, [
      { ...slot, limitsApplied: true },
      { ...slot, waiting: { reason: "ResizeDeferred" } },
    ]);
    const cached = cachedObjects(stored("c", [{ waiting: { reason: "ResizeDeferred" } }]));
    expect(underWay.elsewhere(ref("b"), cached, now).cluster).toBe(0);
  });

  it("T2: do not include stored raises of a paused app", () => {
    const underWay = new RaisesInProgress();
    underWay.note(ref("a"), anApp({ policies: [aPolicy({ paused: true })] }), [slot, slot]);
    expect(underWay.elsewhere(ref("b"), cachedObjects(stored("a", [{}, {}])), now).cluster).toBe(0);
  });

  it("T2: do not include raises that were not confirmed for two minutes or have an invalid time", () => {
    const underWay = new RaisesInProgress();
    underWay.note(ref("a"), app, [slot]);
    const odd = stored("c", [{ at: "2099-01-01T00:00:00Z" }, { at: "yesterday" }]);
    expect(underWay.elsewhere(ref("b"), cachedObjects(odd), now).cluster).toBe(1);
    expect(underWay.elsewhere(ref("b"), cachedObjects(odd), now + 120_000).cluster).toBe(0);
  });
});
