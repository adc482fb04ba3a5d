import { describe, expect, it } from "vitest";
import { type MonitoredApp, monitorStatus, type ObservedMonitor } from "./app-monitors.ts";

const anApp = (app: string, different: Partial<MonitoredApp> = {}): MonitoredApp => ({
  app,
  reason: "BelowThreshold",
  raises: 0,
  oomKills: 0,
  ...different,
});
const seen = (different: Partial<ObservedMonitor> = {}): ObservedMonitor => ({
  paused: false,
  pods: 3,
  outranked: 0,
  annotated: 3,
  unseen: [],
  unseenBefore: {},
  apps: [anApp("Deployment/web", { raises: 2 }), anApp("Pod/hungry", { raises: 1, oomKills: 1 })],
  others: [],
  metrics: { available: true },
  ...different,
});
const reasonsOf = (given: ObservedMonitor) =>
  monitorStatus(given).conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const messageOf = (given: ObservedMonitor, type: string) =>
  monitorStatus(given).conditions?.find((one) => one.type === type)?.message;
const well = "Degraded=False AsExpected";

describe("the status of an AppMonitor", () => {
  it("counts pods, apps, raises and OOM kills", () => {
    expect(monitorStatus(seen())).toMatchObject({ pods: 3, apps: 2, raises: 3, oomKills: 1 });
  });

  it.each([
    { name: "is Ready and not Degraded by default", given: seen(), says: ["Ready=True Watching", well] },
    {
      name: "reports Paused before any other reason",
      given: seen({ paused: true, others: ["b"] }),
      says: ["Ready=False Paused", well],
    },
    {
      name: "F2: reports AmbiguousMonitor if an equally specific AppMonitor selects the same apps",
      given: seen({ others: ["b"], metrics: { available: false } }),
      says: ["Ready=False AmbiguousMonitor", well],
    },
    {
      name: "M1: reports MetricsUnavailable if Prometheus does not respond",
      given: seen({ metrics: { available: false, problem: "refused" } }),
      says: ["Ready=False MetricsUnavailable", well],
    },
    {
      name: "M4: is Ready if responses are partial",
      given: seen({ metrics: { available: true, problem: "Prometheus warns" } }),
      says: ["Ready=True Watching", well],
    },
    {
      name: "reports NoPods if it selects none",
      given: seen({ pods: 0, apps: [] }),
      says: ["Ready=False NoPods", well],
    },
    {
      name: "M6: is neither Ready nor well if Prometheus has no samples of any pod",
      given: seen({ unseen: ["a", "b", "c"] }),
      says: ["Ready=False NoSamples", "Degraded=True NoSamples"],
    },
    {
      name: "M6: is Degraded if Prometheus has no samples of some pods",
      given: seen({ unseen: ["b"] }),
      says: ["Ready=True Watching", "Degraded=True NoSamples"],
    },
    {
      name: "M6: keeps NoSamples while memhog finds out after a restart",
      given: seen({ unseenBefore: { Ready: "as before", Degraded: "as before" } }),
      says: ["Ready=False NoSamples", "Degraded=True NoSamples"],
    },
    {
      name: "reports a stopped app before one that reached a cap",
      given: seen({ apps: [anApp("a", { reason: "CapReached" }), anApp("b", { reason: "SuspectedLeak" })] }),
      says: ["Ready=True Watching", "Degraded=True SuspectedLeak"],
    },
  ])("$name", ({ given, says }) => expect(reasonsOf(given)).toEqual(says));

  it("reports how many of its pods a more specific AppMonitor acts on", () => {
    expect(messageOf(seen({ outranked: 4 }), "Ready")).toBe("3 pods of 2 apps; more specific AppMonitors act on 4 others");
    expect(messageOf(seen(), "Ready")).toBe("3 pods of 2 apps");
  });

  it("M6: a container that dies at its cap comes before everything else, with its kills", () => {
    const apps = [anApp("Pod/b", { reason: "SuspectedLeak" }), anApp("Pod/a", { reason: "OutOfMemoryAtCap", oomKills: 7 })];
    const given = seen({ apps, unseen: ["a"] });
    expect(reasonsOf(given)).toEqual(["Ready=True Watching", "Degraded=True OutOfMemoryAtCap"]);
    expect(messageOf(given, "Degraded")).toMatch(/^Pod\/a \(7 OOM kills\): /);
  });

  it("says why it selects no pod", () => {
    const none = seen({ pods: 0, apps: [] });
    expect(messageOf(none, "Ready")).toBe("spec.selector matches none of the 3 annotated pods in the namespace");
    expect(messageOf({ ...none, annotated: 0 }, "Ready")).toContain('annotation app-monitor.kubedemo.com/monitor: "true"');
  });

  it("M6: names the pods without samples and what to check", () => {
    const message = messageOf(seen({ unseen: ["c", "a"] }), "Degraded");
    expect(message).toMatch(
      /no samples of 2 of 3 running pods: a, c\. Check .*cAdvisor.*--prometheus-header.*--prometheus-matcher/,
    );
  });

  it("names at most three degraded apps, in a stable order", () => {
    const apps = ["e", "b", "d", "a", "c"].map((name) => anApp(name, { reason: "CapReached" }));
    expect(messageOf(seen({ apps }), "Degraded")).toBe(
      "a, b, c and 2 more: maxMemory or its default, a LimitRange, a ResourceQuota or the node allows no more memory",
    );
    expect(monitorStatus(seen({ apps: apps.toReversed() }))).toEqual(monitorStatus(seen({ apps })));
  });
});
