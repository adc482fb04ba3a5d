import { describe, expect, it } from "vitest";
import { ApiError, ForbiddenError, TransportError } from "../client/errors.ts";
import { silentLogger } from "../concurrency/environment.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { Event } from "../objects/kinds/access.ts";
import { isDnsSubdomain } from "../objects/names.ts";
import { type EventInput, EventSeries, within1KiB } from "./event-series.ts";
import { type EventOutcome, EventRecorder } from "./events.ts";
import { ObjectsInMemory } from "./testing/objects-in-memory.ts";

const regarding = { apiVersion: "v1", kind: "Pod", namespace: "apps", name: "web", uid: "1" };
const raised: EventInput = { regarding, reason: "ThresholdCrossed", action: "Resize", message: "raised to 768Mi" };

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
  it("have the fields that events.k8s.io/v1 requires", async () => {
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

  it("have a valid name, whatever the name of the object", async () => {
    const { recorder, pass, events } = world();
    for (const name of ["system:controller:gordon", `${"a".repeat(229)}-b`, "x".repeat(253)])
      recorder.record({ ...raised, regarding: { ...regarding, name } });
    await pass(0);
    const names = events().map(({ metadata }) => metadata?.name ?? "");
    expect(names).toEqual([expect.stringMatching(/^system-controller-gordon\./), expect.anything(), expect.anything()]);
    expect(names.filter((name) => !isDnsSubdomain(name))).toEqual([]);
  });

  it("form a series if repeated, whose count is written immediately at first and then once a minute", async () => {
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

  it("start a new series after six minutes without a repetition", async () => {
    const { recorder, pass, events } = world();
    for (const silenceMs of [0, 359_000, 359_000, 360_000]) {
      await pass(silenceMs);
      recorder.record(raised);
    }
    await pass(0);
    expect(events().map(({ series }) => series?.count)).toEqual([3, undefined]);
  });

  it("with different messages are different: raised to 512Mi is not raised to 1Gi", async () => {
    const { recorder, pass, events } = world();
    recorder.record({ ...raised, message: "raised to 512Mi" });
    recorder.record({ ...raised, message: "raised to 1Gi" });
    await pass(1_000);
    expect(events().map(({ note }) => note)).toEqual(["raised to 512Mi", "raised to 1Gi"]);
  });

  it("A2: of one object are rate-limited without affecting those of others", async () => {
    const { recorder, pass, events, outcomes } = world();
    for (let i = 0; i < 1_000; i += 1) recorder.record({ ...raised, message: `attempt ${i}` });
    recorder.record({ ...raised, regarding: { ...regarding, name: "other" } });
    await pass(60_000);
    expect(events().filter((event) => event.regarding?.name === "web")).toHaveLength(25);
    expect(events().filter((event) => event.regarding?.name === "other")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(975);
    await pass(300_000);
    for (const message of ["five minutes later", "and at once again"]) recorder.record({ ...raised, message });
    await pass(1_000);
    expect(events()).toHaveLength(27);
  });

  it("A2: of all objects are limited to five per second, after a burst of 25", async () => {
    const { recorder, pass, events } = world();
    for (let i = 0; i < 100; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await pass(0);
    expect(events()).toHaveLength(25);
    await pass(10_000);
    expect(events()).toHaveLength(75);
  });

  it("are written in the order in which they were recorded", async () => {
    const { recorder, pass, events } = world();
    const notes = Array.from({ length: 20 }, (_, at) => `step ${at}`);
    for (const message of notes) recorder.record({ ...raised, message });
    await pass(60_000);
    expect(events().map(({ note }) => note)).toEqual(notes);
  });

  it("A2: are queued up to a limit of 1,000 while the API server is slow", async () => {
    const { recorder, pass, objects, outcomes } = world();
    objects.before = () => new Promise(() => {});
    for (let i = 0; i < 1_500; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await pass(0);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(499);
  });

  it("never delay or fail the code that records them, even if the API server never responds", async () => {
    const { recorder, pass, objects } = world();
    objects.before = () => new Promise(() => {});
    recorder.record(raised);
    recorder.record({ ...raised, message: "another" });
    await pass(1_000);
    expect(objects.calls).toHaveLength(1);
  });

  const status = (code: number) => new ApiError({ attempt: "scripted", status: code, reason: "", message: "" });
  it.each([
    { name: "the connection is refused", error: new TransportError("connection refused", { outcome: "not-sent" }) },
    { name: "the server responds 429", error: status(429) },
    { name: "the server responds 500", error: status(500) },
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

  it("are truncated to the limits of the API server", () => {
    const series = new EventSeries(manualEnvironment(), { controller: "gordon-operator", instance: "i".repeat(300) });
    const long = "x".repeat(300);
    const { event } = series.add({ regarding: { ...regarding, name: long }, reason: long, action: long, message: "" }) ?? {};
    expect(event).toMatchObject({ reason: "x".repeat(128), action: "x".repeat(128), reportingInstance: "i".repeat(128) });
    expect(event?.metadata.name.length).toBeLessThanOrEqual(253);
    const least = series.add({ regarding: { kind: "Pod" }, reason: "Odd", message: "" })?.event;
    expect(least).toMatchObject({ action: "Reconcile", metadata: { name: expect.stringMatching(/^unknown\./) } });
    expect(least).not.toHaveProperty("related");
  });

  it("keep the 1,000 most recent series in memory", () => {
    const series = new EventSeries(manualEnvironment(), { controller: "gordon-operator", instance: "gordon-1" });
    const said = (pod: number) => series.add({ ...raised, regarding: { ...regarding, name: `pod-${pod}` } })?.count;
    for (let pod = 0; pod < 1_000; pod += 1) said(pod);
    expect([said(0), said(1_000), said(0), said(1)]).toEqual([2, 1, 3, 1]);
  });

  it("C2: are written once even if the response was lost", async () => {
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

  it("are created again if the server deleted them during their series", async () => {
    const { recorder, pass, objects, events } = world();
    recorder.record(raised);
    await pass(1_000);
    for (const { metadata } of events()) objects.delete(Event, { namespace: "apps", name: metadata.name });
    recorder.record(raised);
    await pass(1_000);
    expect(events().map(({ series }) => series?.count)).toEqual([2]);
  });

  it("A1: are not retried if permission is missing", async () => {
    const { recorder, pass, objects, outcomes } = world();
    objects.before = () => {
      throw new ForbiddenError({ attempt: "create Event", status: 403, reason: "Forbidden", message: "no" });
    };
    recorder.record(raised);
    await pass(120_000);
    expect(objects.calls).toHaveLength(1);
    expect(outcomes).toEqual(["failed"]);
  });

  it("log missing permission once per namespace", async () => {
    const { recorder, pass, objects, said } = world();
    objects.before = () => {
      throw new ForbiddenError({ attempt: "create Event", status: 403, reason: "Forbidden", message: "no" });
    };
    for (const namespace of ["apps", "apps", "home"]) {
      recorder.record({ ...raised, regarding: { ...regarding, namespace } });
      await pass(1_000);
    }
    const refused = "no permission to write events in this namespace; kubectl describe will not show them";
    expect(said).toEqual([`warn ${refused}`, "debug could not write event", `warn ${refused}`]);
  });

  it("in a terminating namespace are dropped without a warning", async () => {
    const { recorder, pass, objects, said } = world();
    objects.before = () => {
      const details = { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] };
      throw new ForbiddenError({ attempt: "create Event", status: 403, reason: "Forbidden", message: "no", details });
    };
    recorder.record(raised);
    await pass(1_000);
    expect(said).toEqual(["debug could not write event"]);
  });

  it("about cluster-scoped objects are in the namespace default", async () => {
    const { recorder, pass, events } = world();
    recorder.record({ ...raised, regarding: { kind: "Node", name: "node-1" } });
    await pass(0);
    expect(events()[0]?.metadata.namespace).toBe("default");
  });

  it("that are pending are written on close, within the rate limit and without waiting", async () => {
    const { recorder, events, outcomes } = world();
    for (let i = 0; i < 30; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await recorder.close(new AbortController().signal); // the clock stands still
    expect(events()).toHaveLength(25);
    expect(outcomes.filter((outcome) => outcome === "dropped")).toHaveLength(5);
  });

  it("that exceed the rate limit are dropped on close", async () => {
    const { recorder, pass, events, outcomes } = world();
    for (let i = 0; i < 27; i += 1) recorder.record({ ...raised, regarding: { ...regarding, name: `pod-${i}` } });
    await pass(0);
    await recorder.close(new AbortController().signal);
    expect([events().length, outcomes.filter((outcome) => outcome === "dropped").length]).toEqual([25, 2]);
  });

  it("of an ongoing series get their final count on close, and no timer keeps the process alive", async () => {
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

  it("that wait for a retry get one more attempt on close", async () => {
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

  it("that are pending are dropped if close has no time left", async () => {
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

  it("are dropped after close", async () => {
    const { recorder, outcomes } = world();
    await recorder.close(new AbortController().signal);
    recorder.record(raised);
    expect(outcomes).toEqual(["dropped"]);
  });

  it("do not keep the process alive", async () => {
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
    { name: "keeps short messages", text: "x".repeat(1_024), bytes: 1_024 },
    { name: "truncates long messages", text: "x".repeat(5_000), bytes: 1_024 },
    { name: "does not split a two-byte character", text: `x${"ü".repeat(2_000)}`, bytes: 1_024 },
    { name: "does not split a four-byte character", text: `xx${"🐗".repeat(1_000)}`, bytes: 1_021 },
  ])("keep their notes within 1 KiB: $name", ({ text, bytes }) => {
    const cut = within1KiB(text);
    expect(Buffer.byteLength(cut)).toBe(bytes);
    expect(cut).not.toContain("\uFFFD");
  });
});
