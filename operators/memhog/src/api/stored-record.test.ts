import { anObject } from "@memhog/runtime/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytes, mib } from "../model/bytes.ts";
import { anIntent, aRecord } from "../model/observed-app.fixture.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import { type AppRecord, emptyRecord, type Inputs, type Summary } from "../model/plan.ts";
import { AppMemory } from "./app-memory.ts";
import { readRecord, statusOf } from "./stored-record.ts";

const aSummary = (different: Partial<Summary>): Summary => ({ ...aPlan().summary, ...different });
const someInputs = (different: Partial<Inputs>): Inputs => ({ ...aVerdict().inputs, ...different });
const now = 1_800_000_000_000;
const stored = (status: unknown) => anObject(AppMemory, { spec: { app: "Deployment/web" }, status } as never);
const written = (record: AppRecord) => JSON.parse(JSON.stringify(statusOf(aPlan({ record }), undefined, now)));

const amount = fc.maxSafeNat().map(bytes);
const memory = fc.record({ limit: amount, request: fc.option(amount, { nil: undefined }) });
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
const word = fc.string({ minLength: 1, maxLength: 20 });
const pod = fc.record({ name: word, uid: word });
const maybe = <T>(key: string, value: fc.Arbitrary<T>) => fc.record({ [key]: value }, { requiredKeys: [] });
const merged = <A extends object, B extends object>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>) =>
  fc.tuple(a, b).map(([x, y]) => ({ ...x, ...y }));
const change = merged(fc.record({ container: word, from: memory, to: memory }), maybe("cappedBy", word));
const waiting = merged(fc.record({ reason: fc.constantFrom("Refused", "CopyGivenUp") }), maybe("message", word));
const doing = fc.record({
  method: fc.constantFrom("InPlace", "CopyPod", "Template"),
  pod,
  changes: fc.array(change, { maxLength: 3 }),
  reason: fc.constantFrom("ThresholdCrossed", "WillRunOut", "OutOfMemory", "LearnedBefore"),
  atMs: instant,
});
const anyRecord = fc.record({
  learned: fc.array(merged(fc.record({ container: word, atMs: instant }), memory), { maxLength: 3 }),
  intents: fc.array(
    merged(merged(doing, fc.record({ id: word, attempt: fc.integer({ min: 1, max: 9 }) })), maybe("waiting", waiting)),
    { maxLength: 3 },
  ),
  actions: fc.array(
    merged(
      merged(doing, fc.record({ outcome: fc.constantFrom("Applied", "Abandoned", "NotReady") })),
      merged(maybe("cause", fc.constantFrom("NoEffect", "NameTaken")), maybe("message", word)),
    ),
    { maxLength: 3 },
  ),
  kills: fc.array(fc.record({ uid: word, container: word, restart: fc.nat(1000) }), { maxLength: 3 }),
  given: fc.array(fc.record({ uid: word, container: word, limit: amount }), { maxLength: 3 }),
  reverts: fc.nat(1000),
  stops: fc.array(
    merged(
      fc.record({
        reason: fc.constantFrom("SuspectedLeak", "Contested"),
        atMs: instant,
        monitorUid: word,
        monitorGeneration: fc.nat(9),
      }),
      maybe("uid", word),
    ),
    { maxLength: 3 },
  ),
  shrinks: fc.array(
    fc.record({
      ...{ pod: fc.record({ name: word, uid: word }), container: word, from: memory, to: memory, atMs: instant },
      state: fc.constantFrom("Pending", "Applied", "Reverting", "Undone", "Refused"),
    }),
    { maxLength: 3 },
  ),
  raises: fc.nat(1000),
  oomKills: fc.nat(1000),
}) as unknown as fc.Arbitrary<AppRecord>;

describe("a record", () => {
  it("is read back as it was written, to the byte and to the millisecond", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        expect(readRecord(stored(written(record)))).toEqual(record);
      }),
    );
  });

  it("of an app that nothing is known about is empty, and takes no room", () => {
    expect(readRecord(undefined)).toEqual(emptyRecord);
    expect(readRecord(stored(undefined))).toEqual(emptyRecord);
    expect(Object.keys(written(emptyRecord)).sort()).toEqual(["applied", "conditions", "container", "limit", "phase", "reason"]);
  });

  it("keeps the newest actions where there are too many, and cuts a sentence that is too long", () => {
    const { id: _, attempt: __, ...action } = anIntent();
    const actions = Array.from({ length: 60 }, (___, at) => ({ ...action, atMs: at, outcome: "Applied" as const }));
    const waits = { reason: "Refused", message: "x".repeat(2000) } as const;
    const { actions: kept, intents } = written(aRecord({ actions, intents: [anIntent({ waiting: waits })] }));
    expect(kept).toHaveLength(50);
    expect(kept[0].at).toBe("1970-01-01T00:00:00.010Z");
    expect(intents[0].waiting.message).toHaveLength(1024);
  });

  it("S3: fits the bounds of the CRD, however much there is: otherwise the server would refuse every write of the status", () => {
    const { id: _, attempt: __, ...action } = anIntent();
    const many = <T>(one: (at: number) => T) => Array.from({ length: 1_001 }, (___, at) => one(at));
    const changes = many((at) => ({
      container: `c${at}`,
      from: { limit: mib(1), request: mib(1) },
      to: { limit: mib(2), request: mib(2) },
    }));
    const status = written(
      aRecord({
        learned: many((at) => ({ container: `c${at}`, limit: mib(1), request: mib(1), atMs: 0 })),
        intents: many((at) => anIntent({ id: `i${at}`, changes })),
        actions: many((at) => ({ ...action, changes, atMs: at, outcome: "Applied" as const })),
        kills: many((at) => ({ uid: `u${at}`, container: "main", restart: 1 })),
        given: many((at) => ({ uid: `u${at}`, container: "main", limit: mib(1) })),
        stops: many((at) => ({ uid: `u${at}`, reason: "Contested" as const, monitorUid: "m", monitorGeneration: 1, atMs: at })),
        raises: Number.MAX_SAFE_INTEGER,
        oomKills: Number.MAX_SAFE_INTEGER,
      }),
    );
    expect(AppMemory.definition.status?.safeParse(status).error?.issues).toBeUndefined();
  });

  it("keeps what is being done before what only waits for its request, where there is too much of both", () => {
    const done = Array.from({ length: 49 }, (_, at) => anIntent({ id: `done-${at}`, limitsApplied: true }));
    const open = [anIntent({ id: "open-1" }), anIntent({ id: "open-2" })];
    const kept = written(aRecord({ intents: [...open, ...done] })).intents.map(({ id }: { id: string }) => id);
    expect(kept).toHaveLength(50);
    expect(kept).toEqual(expect.arrayContaining(["open-1", "open-2"]));
  });

  it("is never the end of us, whatever somebody put there (E3)", () => {
    const lists = fc.array(fc.anything());
    const anything = fc.oneof(
      fc.anything(),
      fc.record({ learned: lists, intents: lists, actions: lists, kills: fc.anything(), stops: lists, raises: fc.anything() }),
    );
    fc.assert(
      fc.property(anything, (status) => {
        expect(readRecord(stored(status)).intents).toEqual([]);
      }),
    );
  });

  it("loses only the entries that cannot be read, and says which", () => {
    const good = written(aRecord({ intents: [anIntent()], kills: [{ uid: "pod-1", container: "memhog", restart: 2 }] }));
    const broken: string[] = [];
    const status = { ...good, intents: [{ ...good.intents[0], at: "yesterday" }, good.intents[0]], raises: -1 };
    expect(readRecord(stored(status), (where) => broken.push(where))).toEqual(
      aRecord({ intents: [anIntent()], kills: [{ uid: "pod-1", container: "memhog", restart: 2 }] }),
    );
    expect(broken).toEqual(["intents[0]", "raises"]);
  });
});

describe("the status of an app", () => {
  it("says in a condition where it is and why, without figures that move", () => {
    const { conditions } = statusOf(
      aPlan({ summary: aSummary({ phase: "Raising", reason: "ThresholdCrossed" }) }),
      undefined,
      now,
    );
    expect(conditions).toMatchObject([
      {
        type: "Settled",
        status: "False",
        reason: "Raising",
        message: "ThresholdCrossed: usage has reached memThresholdPercent of the limit",
      },
    ]);
  });

  it.each([
    {
      name: "an HPA, beside which only limits grow",
      otherAutoscaler: { name: "HorizontalPodAutoscaler/web", kind: "HPA" as const },
      says: "next to HorizontalPodAutoscaler/web only limits are raised, in place",
    },
    {
      name: "a VPA",
      otherAutoscaler: { name: "VerticalPodAutoscaler/web", kind: "VPA" as const },
      says: "VerticalPodAutoscaler/web manages this memory",
    },
    {
      name: "a VPA whose name is not known",
      otherAutoscaler: { name: "VerticalPodAutoscaler", kind: "VPA" as const },
      says: "VerticalPodAutoscaler manages this memory",
    },
  ])("F1: names $name", ({ otherAutoscaler, says }) => {
    const { conditions } = statusOf(aPlan({ summary: aSummary({ otherAutoscaler }) }), undefined, now);
    expect(conditions?.[0]?.message).toMatch(new RegExp(`^BelowThreshold: .*; ${says}$`));
  });

  it("stays word for word when only the usage moved (E1)", () => {
    const before = statusOf(aPlan(), undefined, now);
    const later = aPlan({ summary: aSummary({ message: "101Mi of 384Mi are used" }) });
    expect(statusOf(later, before, now + 60_000)).toEqual(before);
  });

  it("stays with its container while nothing is done, although another is nearer to its limit now (E1)", () => {
    const before = statusOf(aPlan(), undefined, now);
    const verdicts = [aVerdict(), aVerdict({ container: "sidecar", inputs: someInputs({ limit: mib(64) }) })];
    const summary = aSummary({ container: "sidecar", limit: mib(64), applied: mib(64) });
    expect(statusOf(aPlan({ verdicts, summary }), before, now)).toEqual(before);
  });

  it("stays with the replica it speaks of, although a larger one is nearer to its limit now (E1)", () => {
    const before = statusOf(aPlan(), undefined, now);
    const verdicts = [aVerdict(), aVerdict({ pod: { name: "memhog-2", uid: "pod-2" }, inputs: someInputs({ limit: mib(768) }) })];
    const summary = aSummary({ limit: mib(768), applied: mib(768) });
    expect(statusOf(aPlan({ verdicts, summary }), before, now)).toEqual(before);
  });

  it("says what the kubelet confirms of the container it speaks of", () => {
    const before = statusOf(aPlan({ summary: aSummary({ applied: undefined }) }), undefined, now);
    expect(statusOf(aPlan(), before, now).applied).toBe("384Mi");
  });

  it("goes over to the other container once its own is no longer as it was", () => {
    const before = statusOf(aPlan(), undefined, now);
    const verdicts = [aVerdict({ inputs: someInputs({ limit: mib(512) }) }), aVerdict({ container: "sidecar" })];
    const summary = aSummary({ container: "sidecar", limit: mib(64), applied: mib(64) });
    expect(statusOf(aPlan({ verdicts, summary }), before, now)).toMatchObject({ container: "sidecar", limit: "64Mi" });
  });
});
