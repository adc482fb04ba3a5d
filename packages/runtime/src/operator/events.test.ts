import { describe, expect, it } from "vitest";
import { ApiError, ForbiddenError, TransportError } from "../client/errors.ts";
import { silentLogger } from "../concurrency/logger.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { Event } from "../objects/kinds/events.ts";
import { isDnsSubdomain } from "../objects/names.ts";
import { type EventInput, EventSeries, within1KiB } from "./event-series.ts";
import { type EventOutcome, EventRecorder } from "./events.ts";
import { ObjectsInMemory } from "./testing/objects-in-memory.ts";

const regarding = { apiVersion: "v1", kind: "Pod", namespace: "apps", name: "web", uid: "1" };
const raised: EventInput = { regarding, reason: "ThresholdCrossed", action: "Resize", note: "raised to 768Mi" };

function world() {
  const environment = manualEnvironment();
  const objects = new ObjectsInMemory();
  const outcomes: EventOutcome[] = [];
  const said: string[] = [];
  const says = (level: string) => (_fields: object, message: string) => said.push(`${level} ${message}`);
  const log = { ...silentLogger, warn: says("warn"), debug: says("debug") };
  const recorder = new EventRecorder({
    ...{ client: objects.client, environment, log, controller: "gordon-operator", instance: "gordon-1" },
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  return {
    environment,
    objects,
    outcomes,
    said,
    recorder,
    pass: (ms: number) => environment.clock.advance(ms),
    events: () => objects.all(Event),
  };
}

describe("events", () => {
  it("are written as events.k8s.io/v1 wants them", async () => {
    const { recorder, pass, events } = world();
    recorder.record({ ...raised, related: { kind: "AppMonitor", name: "johnny-cache" } });
    await pass(0);
    expect(events()).toEqual([
      {
        metadata: expect.objectContaining({ namespace: "apps", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) }),
        eventTime: "2026-01-01T00:00:00.000000Z",
        type: "Normal",
        reason: "ThresholdCrossed",
        action: "Resize",
        note: "raised to 768Mi",
        regarding,
        related: { kind: "AppMonitor", name: "johnny-cache" },
        reportingController: "gordon-operator",
        reportingInstance: "gordon-1",
      },
    ]);
  });

  it("have a name that the API server takes, whatever the object is called", async () => {
    const { recorder, pass, events } = world();
    for (const name of ["system:controller:gordon", `${"a".repeat(229)}-b`, "x".repeat(253)])
      recorder.record({ ...raised, regarding: { ...regarding, name } });
    await pass(0);
    const names = events().map(({ metadata }) => metadata?.name ?? "");
    expect(names).toEqual([expect.stringMatching(/^system-controller-gordon\./), expect.anything(), expect.anything()]);
    expect(names.filter((name) => !isDnsSubdomain(name))).toEqual([]);
  });

  it("are one series when the same thing is said again, written at once the first time and then once a minute", async () => {
    const { recorder, pass, events, objects } = world();
    for (let second = 0; second < 120; second += 1) {
      const resourceVersion = `${second}`;
      recorder.record({ ...raised, regarding: { ...regarding, resourceVersion }, related: { ...regarding, resourceVersion } });
      await pass(1_000);
    }
    await pass(60_000);
    expect(events()).toHaveLength(1);
    expect(events()[0]?.series?.count).toBe(120);
    expect(objects.calls.map(({ verb }) => verb)).toEqual(["create", "patch", "patch", "patch"]);
  });

  it("begin a new series after six minutes of silence", async () => {
    const { recorder, pass, events } = world();
    for (const silenceMs of [0, 359_000, 359_000, 360_000]) {
      await pass(silenceMs);
      recorder.record(raised);
    }
    await pass(0);
    expect(events().map(({ series }) => series?.count)).toEqual([3, undefined]);
  });

  it("are told apart by their words: raised to 512Mi is not raised to 1Gi", async () => {
    const { recorder, pass, events } = world();
    recorder.record({ ...raised, note: "raised to 512Mi" });
    recorder.record({ ...raised, note: "raised to 1Gi" });
    await pass(1_000);
    expect(events().map(({ note }) => note)).toEqual(["raised to 512Mi", "raised to 1Gi"]);
  });

  it("A2: of one object are bounded, however much it has to say, and others are not affected", async () => {
    const { recorder, pass, events, outcomes } = world();
    for (let i = 0; i < 1_000; i += 1) recorder.record({ ...raised, note: `attempt ${i}` });
    recorder.record({ ...raised, regarding: { ...regarding, name: "other" } });
    await pass(60_000);
    expect(events().filter((event) => event.regarding?.name === "web")).toHaveLength(25);
    expect(events().filter((event) => event.regarding?.name === "other")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(975);
    await pass(300_000);
    for (const note of ["five minutes later", "and at once again"]) recorder.record({ ...raised, note });
    await pass(1_000);
    expect(events()).toHaveLength(27);
  });

  it("A2: of all objects together are written at five a second at most, after a burst of 25", async () => {
    const { recorder, pass, events } = world();
    for (let i = 0; i < 100; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await pass(0);
    expect(events()).toHaveLength(25);
    await pass(10_000);
    expect(events()).toHaveLength(75);
  });

  it("are written in the order in which they were said", async () => {
    const { recorder, pass, events } = world();
    const notes = Array.from({ length: 20 }, (_, at) => `step ${at}`);
    for (const note of notes) recorder.record({ ...raised, note });
    await pass(60_000);
    expect(events().map(({ note }) => note)).toEqual(notes);
  });

  it("A2: wait by the thousand while the API server is slow, and no more than that", async () => {
    const { recorder, pass, objects, outcomes } = world();
    objects.before = () => new Promise(() => {});
    for (let i = 0; i < 1_500; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await pass(0);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(499);
  });

  it("never hold up or fail whoever records them, even if the API server never answers", async () => {
    const { recorder, pass, objects } = world();
    objects.before = () => new Promise(() => {});
    recorder.record(raised);
    recorder.record({ ...raised, note: "another" });
    await pass(1_000);
    expect(objects.calls).toHaveLength(1);
  });

  const status = (code: number) => new ApiError({ attempt: "scripted", status: code, reason: "", message: "" });
  it.each([
    { name: "nobody answers", error: new TransportError("connection refused", { outcome: "not-sent" }) },
    { name: "the server is busy", error: status(429) },
    { name: "the server is broken", error: status(500) },
  ])("are tried again a few times while $name, then let go and counted", async ({ error }) => {
    const { recorder, pass, objects, outcomes, events } = world();
    objects.before = () => {
      throw error;
    };
    recorder.record(raised);
    await pass(120_000);
    expect(objects.calls).toHaveLength(4);
    expect(outcomes).toEqual(["failed"]);
    objects.before = () => {};
    recorder.record(raised);
    await pass(0);
    expect(outcomes).toEqual(["failed", "created"]);
    expect(events()[0]).not.toHaveProperty("series"); // nobody has read of the first
  });

  it("are cut to what the API server takes, and say what they can", () => {
    const series = new EventSeries(manualEnvironment(), { controller: "gordon-operator", instance: "i".repeat(300) });
    const long = "x".repeat(300);
    const { event } = series.note({ regarding: { ...regarding, name: long }, reason: long, action: long, note: "" }) ?? {};
    expect(event).toMatchObject({ reason: "x".repeat(128), action: "x".repeat(128), reportingInstance: "i".repeat(128) });
    expect(event?.metadata.name.length).toBeLessThanOrEqual(253);
    const least = series.note({ regarding: { kind: "Pod" }, reason: "Odd", note: "" })?.event;
    expect(least).toMatchObject({ action: "Reconcile", metadata: { name: expect.stringMatching(/^unknown\./) } });
    expect(least).not.toHaveProperty("related");
  });

  it("are remembered by the thousand: those that were said last", () => {
    const series = new EventSeries(manualEnvironment(), { controller: "gordon-operator", instance: "gordon-1" });
    const said = (pod: number) => series.note({ ...raised, regarding: { ...regarding, name: `pod-${pod}` } })?.count;
    for (let pod = 0; pod < 1_000; pod += 1) said(pod);
    expect([said(0), said(1_000), said(0), said(1)]).toEqual([2, 1, 3, 1]);
  });

  it("C2: are written once though the answer was lost", async () => {
    const { recorder, pass, objects, events, outcomes } = world();
    let lost = false;
    objects.after = () => {
      if (lost) return;
      lost = true;
      throw new TransportError("socket hang up", { outcome: "unknown" });
    };
    recorder.record(raised);
    await pass(10_000);
    expect(events()).toHaveLength(1);
    expect(outcomes).toEqual(["created"]);
  });

  it("are created again when the server has let go of them while their series went on", async () => {
    const { recorder, pass, objects, events } = world();
    recorder.record(raised);
    await pass(1_000);
    for (const { metadata } of events()) objects.delete(Event, { namespace: "apps", name: metadata.name });
    recorder.record(raised);
    await pass(1_000);
    expect(events().map(({ series }) => series?.count)).toEqual([2]);
  });

  it("A1: are not tried again when we may not write them", async () => {
    const { recorder, pass, objects, outcomes } = world();
    objects.before = () => {
      throw new ForbiddenError({ attempt: "create Event", status: 403, reason: "Forbidden", message: "no" });
    };
    recorder.record(raised);
    await pass(120_000);
    expect(objects.calls).toHaveLength(1);
    expect(outcomes).toEqual(["failed"]);
  });

  it("that we may not write are complained about once for a namespace: nobody would look for what is not there", async () => {
    const { recorder, pass, objects, said } = world();
    objects.before = () => {
      throw new ForbiddenError({ attempt: "create Event", status: 403, reason: "Forbidden", message: "no" });
    };
    for (const namespace of ["apps", "apps", "home"]) {
      recorder.record({ ...raised, regarding: { ...regarding, namespace } });
      await pass(1_000);
    }
    const refused = "events may not be written here: kubectl describe will not show them";
    expect(said).toEqual([`warn ${refused}`, "debug event could not be written", `warn ${refused}`]);
  });

  it("of a namespace that is on its way out are let go quietly", async () => {
    const { recorder, pass, objects, said } = world();
    objects.before = () => {
      const details = { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] };
      throw new ForbiddenError({ attempt: "create Event", status: 403, reason: "Forbidden", message: "no", details });
    };
    recorder.record(raised);
    await pass(1_000);
    expect(said).toEqual(["debug event could not be written"]);
  });

  it("about cluster-wide objects live in the namespace default", async () => {
    const { recorder, pass, events } = world();
    recorder.record({ ...raised, regarding: { kind: "Node", name: "node-1" } });
    await pass(0);
    expect(events()[0]?.metadata.namespace).toBe("default");
  });

  it("that wait are written before closing, as far as the budget goes and without waiting for time to pass", async () => {
    const { recorder, events, outcomes } = world();
    for (let i = 0; i < 30; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await recorder.close(new AbortController().signal); // the clock stands still
    expect(events()).toHaveLength(25);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(5);
  });

  it("are let go at closing if they were waiting for the budget", async () => {
    const { recorder, pass, events, outcomes } = world();
    for (let i = 0; i < 27; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await pass(0);
    await recorder.close(new AbortController().signal);
    expect([events().length, outcomes.filter((outcome) => outcome === "dropped").length]).toEqual([25, 2]);
  });

  it("of a series that goes on are counted to the last at closing, and no timer is left that would keep the process", async () => {
    const { recorder, pass, events, outcomes, environment } = world();
    for (let i = 0; i < 5; i += 1) {
      recorder.record(raised);
      await pass(1_000);
    }
    expect(events()[0]?.series?.count).toBe(2);
    await recorder.close(new AbortController().signal); // the clock stands still
    expect(events()[0]?.series?.count).toBe(5);
    expect(outcomes).toEqual(["created", "updated", "updated"]);
    expect(environment.clock.pending).toBe(0);
  });

  it("that wait for another try get it at closing, once", async () => {
    const { recorder, pass, objects, outcomes, environment } = world();
    objects.before = () => {
      throw new TransportError("connection refused", { outcome: "not-sent" });
    };
    recorder.record(raised);
    await pass(0);
    await recorder.close(new AbortController().signal);
    expect(objects.calls).toHaveLength(2);
    expect(outcomes).toEqual(["failed"]);
    expect(environment.clock.pending).toBe(0);
  });

  it("that wait are let go if closing has no time at all", async () => {
    const { recorder, pass, objects, outcomes, environment } = world();
    for (let i = 0; i < 3; i += 1) {
      recorder.record(raised);
      await pass(1_000);
    }
    await recorder.close(AbortSignal.abort());
    expect(objects.calls).toHaveLength(2);
    expect(outcomes).toEqual(["created", "updated", "dropped"]);
    expect(environment.clock.pending).toBe(0);
  });

  it("are not taken after closing", async () => {
    const { recorder, outcomes } = world();
    await recorder.close(new AbortController().signal);
    recorder.record(raised);
    expect(outcomes).toEqual(["dropped"]);
  });

  it("do not keep a process from ending", async () => {
    const { recorder, pass, objects } = world();
    objects.before = ({ signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    recorder.record(raised);
    await pass(0);
    const limit = new AbortController();
    const closed = recorder.close(limit.signal);
    limit.abort();
    await closed;
  });

  it.each([
    { name: "short ones stay as they are", text: "x".repeat(1_024), bytes: 1_024 },
    { name: "long ones are cut", text: "x".repeat(5_000), bytes: 1_024 },
    { name: "never in the middle of a character", text: `x${"ü".repeat(2_000)}`, bytes: 1_024 },
    { name: "nor of a long one", text: `xx${"🐗".repeat(1_000)}`, bytes: 1_021 },
  ])("keep their notes within 1 KiB: $name", ({ text, bytes }) => {
    const cut = within1KiB(text);
    expect(Buffer.byteLength(cut)).toBe(bytes);
    expect(cut).not.toContain("\uFFFD");
  });
});
