import { describe, expect, it } from "vitest";
import type { AppMonitor } from "../api/app-monitor.ts";
import { johnnyCache } from "./cached.fixture.ts";
import { rank } from "./monitors.ts";

type Selector = AppMonitor["spec"]["selector"];
const monitor = (name: string, selector?: Selector, metadata: object = {}) =>
  johnnyCache(selector === undefined ? {} : { selector }, { name, uid: `uid-${name}`, ...metadata });
const labeled = (name: string, matchLabels: Record<string, string>) => monitor(name, { matchLabels });

const all = monitor("all");
const web = labeled("web", { app: "web" });
const front = monitor("front", { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] });
const tier = monitor("tier", { matchExpressions: [{ key: "tier", operator: "In", values: ["front", "back"] }] });
const aWebPod = { app: "web", tier: "front" };

describe("the AppMonitors that act on an app", () => {
  it.each([
    { name: "the only one", monitors: [all], pods: [aWebPod], acting: ["all"], outranked: [] },
    {
      name: "one for the app beats the default of the namespace",
      monitors: [all, web],
      pods: [aWebPod],
      acting: ["web"],
      outranked: ["all"],
    },
    {
      name: "more requirements beat fewer",
      monitors: [web, front, all],
      pods: [aWebPod],
      acting: ["front"],
      outranked: ["all", "web"],
    },
    {
      name: "F2: as many requirements are ambiguous",
      monitors: [web, tier, all],
      pods: [aWebPod],
      acting: ["tier", "web"],
      outranked: ["all"],
    },
    {
      name: "F2: an empty selector is as specific as none",
      monitors: [all, monitor("empty", {})],
      pods: [aWebPod],
      acting: ["all", "empty"],
      outranked: [],
    },
    {
      name: "one that does not select the pod does not count",
      monitors: [all, labeled("db", { app: "db" })],
      pods: [aWebPod],
      acting: ["all"],
      outranked: [],
    },
    {
      name: "F2: pods of one app on which different ones act are ambiguous, though one is more specific",
      monitors: [all, web],
      pods: [aWebPod, { app: "old" }],
      acting: ["all", "web"],
      outranked: [],
    },
    {
      name: "one that is being deleted does not count",
      monitors: [all, monitor("web", { matchLabels: { app: "web" } }, { deletionTimestamp: "2026-01-01T00:00:00Z" })],
      pods: [aWebPod],
      acting: ["all"],
      outranked: [],
    },
    { name: "none without pods", monitors: [all, web], pods: [], acting: [], outranked: [] },
  ])("$name", ({ monitors, pods, acting, outranked }) => {
    const ranking = rank(monitors, pods);
    const names = (list: typeof ranking.acting) => list.map(({ metadata }) => metadata.name);
    expect([names(ranking.acting), names(ranking.outranked)]).toEqual([acting, outranked]);
    expect(rank(monitors.toReversed(), pods.toReversed())).toEqual(ranking);
  });

  it("a paused one still outranks the default of the namespace", () => {
    const paused = johnnyCache({ paused: true, selector: { matchLabels: { app: "web" } } }, { name: "web" });
    expect(rank([all, paused], [aWebPod]).acting).toEqual([paused]);
  });
});
