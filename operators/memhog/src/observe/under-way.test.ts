import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { anIntent } from "../model/seen.fixture.ts";
import { cachedObjects } from "./cached.fixture.ts";
import { UnderWay } from "./under-way.ts";

const ref = (name: string) => ({ namespace: "default", name });
const stored = (name: string, intents: readonly object[]) =>
  anObject<AppMemory>(AppMemory, {
    metadata: { name },
    spec: { app: `Pod/${name}` },
    status: { intents } as NonNullable<AppMemory["status"]>,
  });

describe("raises under way elsewhere", () => {
  it("D3: are those of others that are stored, and those that were decided a moment ago", () => {
    const underWay = new UnderWay();
    underWay.note(ref("a"), [anIntent()]);
    underWay.note(ref("b"), [anIntent(), anIntent()]);
    const cached = cachedObjects(stored("b", [{}]), stored("c", [{}]));
    expect(["a", "b", "c", "d"].map((name) => underWay.elsewhere(ref(name), cached))).toEqual([3, 2, 3, 4]);
  });

  it("are not those that wait, have their limits, or are over", () => {
    const underWay = new UnderWay();
    underWay.note(ref("a"), [anIntent()]);
    underWay.note(ref("a"), [anIntent({ limitsApplied: true }), anIntent({ waitingFor: "Deferred" })]);
    expect(underWay.elsewhere(ref("b"), cachedObjects(stored("c", [{ waitingFor: "Deferred" }])))).toBe(0);
  });
});
