import { describe, expect, it } from "vitest";
import { type MonitoredApp, type MonitorSeen, monitorStatus } from "./monitor-status.ts";

const anApp = (app: string, different: Partial<MonitoredApp> = {}): MonitoredApp => ({
  app,
  reason: "BelowThreshold",
  raises: 0,
  oomKills: 0,
  ...different,
});
const seen = (different: Partial<MonitorSeen> = {}): MonitorSeen => ({
  paused: false,
  pods: 3,
  apps: [anApp("Deployment/web", { raises: 2 }), anApp("Pod/hungry", { raises: 1, oomKills: 1 })],
  others: [],
  metrics: { available: true },
  ...different,
});
const reasonsOf = (given: MonitorSeen) =>
  monitorStatus(given).conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const messageOf = (given: MonitorSeen, type: string) =>
  monitorStatus(given).conditions?.find((one) => one.type === type)?.message;
const well = "Degraded=False AsExpected";

describe("the status of an AppMonitor", () => {
  it("counts pods, apps, raises and kills", () => {
    expect(monitorStatus(seen())).toMatchObject({ pods: 3, apps: 2, raises: 3, oomKills: 1 });
  });

  it.each([
    { name: "all is well", given: seen(), says: ["Ready=True Watching", well] },
    { name: "it is paused, whatever else", given: seen({ paused: true, others: ["b"] }), says: ["Ready=False Paused", well] },
    {
      name: "another one selects the same pods",
      given: seen({ others: ["b"], metrics: { available: false } }),
      says: ["Ready=False AmbiguousMonitor", well],
    },
    {
      name: "Prometheus does not answer (M1)",
      given: seen({ metrics: { available: false, problem: "refused" } }),
      says: ["Ready=False MetricsUnavailable", well],
    },
    {
      name: "the answers are partial (M4)",
      given: seen({ metrics: { available: true, problem: "Prometheus warns" } }),
      says: ["Ready=True Watching", well],
    },
    {
      name: "an app is left alone, another is at its ceiling",
      given: seen({ apps: [anApp("a", { reason: "AtCeiling" }), anApp("b", { reason: "SuspectedLeak" })] }),
      says: ["Ready=True Watching", "Degraded=True SuspectedLeak"],
    },
  ])("$name", ({ given, says }) => expect(reasonsOf(given)).toEqual(says));

  it("names the apps in trouble, always in the same order, and not a thousand of them", () => {
    const apps = ["e", "b", "d", "a", "c"].map((name) => anApp(name, { reason: "AtCeiling" }));
    expect(messageOf(seen({ apps }), "Degraded")).toBe("a, b, c and 2 more: a cap leaves no more memory to give");
    expect(monitorStatus(seen({ apps: apps.toReversed() }))).toEqual(monitorStatus(seen({ apps })));
  });
});
