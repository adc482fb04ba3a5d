import { describe, expect, it } from "vitest";
import { mib, readable } from "../model/bytes.ts";
import {
  anApp,
  anObservedContainer,
  anObservedPod,
  aPolicy,
  aRecord,
  aTemplate,
  hpa,
  now,
  vpa,
} from "../model/observed-app.fixture.ts";
import type { ObservedApp, ObservedPod, ObservedQuota } from "../model/observed-app.ts";
import { startSizes } from "./start-size.ts";

const learned = [{ container: "memhog", limit: mib(768), request: mib(512), atMs: now - 1_000 }];
const starting = (different: Partial<ObservedPod> = {}) =>
  anObservedPod({
    ...{ name: "", uid: "", phase: "Pending", ready: false, createdAtMs: 0, node: undefined },
    containers: [anObservedContainer({ running: false, samples: [] })],
    ...different,
  });
const guaranteed = starting({
  qos: "Guaranteed",
  containers: [anObservedContainer({ running: false, samples: [], limit: mib(384), request: mib(384) })],
});
const quota = (of: ObservedQuota["of"], left: number) => ({
  limits: { ranges: [], quotas: [{ name: "team", of, hard: mib(10_240), used: mib(10_240 - left) }] },
});
/** One of four replicas exists. */
const world = (different: Partial<ObservedApp> = {}) =>
  anApp({ record: aRecord({ learned }), template: aTemplate({ replicas: 4 }), ...different });

interface Row {
  readonly name: string;
  readonly seen?: Partial<ObservedApp>;
  readonly pod?: ObservedPod;
  /** MiB; undefined if nodes are unknown. */
  readonly free?: number | undefined;
  readonly is: string;
}

describe("the memory a new pod starts with", () => {
  it.each<Row>([
    { name: "is what its app has learned", is: "512Mi/768Mi" },
    { name: "keeps the request if no node has room for more", free: 300, is: "256Mi/768Mi" },
    { name: "keeps the request if nodes are unknown", free: undefined, is: "256Mi/768Mi" },
    { name: "keeps the QoS class of a Guaranteed pod", pod: guaranteed, is: "768Mi/768Mi" },
    { name: "is not larger for a Guaranteed pod that fits no node", pod: guaranteed, free: 500, is: "as it is" },
    { name: "is within maxMemory", seen: { policies: [aPolicy({ maxMemory: mib(600) })] }, is: "400Mi/600Mi" },
    {
      name: "is within a LimitRange",
      seen: { limits: { quotas: [], ranges: [{ name: "small", per: "Container", max: mib(500), maxRatio: undefined }] } },
      is: "333Mi/500Mi",
    },
    { name: "leaves half of a quota, after all replicas", seen: quota("limits", 8_192), is: "512Mi/768Mi" },
    { name: "is not larger if the quota has less left", seen: quota("limits", 4_096), is: "as it is" },
    { name: "leaves half of a quota of requests", seen: quota("requests", 2_048), is: "as it is" },
    { name: "does not change without anything learned", seen: { record: aRecord() }, is: "as it is" },
    { name: "does not change without an AppMonitor", seen: { policies: [] }, is: "as it is" },
    { name: "does not change while the AppMonitor is paused", seen: { policies: [aPolicy({ paused: true })] }, is: "as it is" },
    { name: "does not change under Recommend", seen: { policies: [aPolicy({ strategy: "Recommend" })] }, is: "as it is" },
    { name: "F2: does not change with two AppMonitors", seen: { policies: [aPolicy(), aPolicy()] }, is: "as it is" },
    { name: "F1: does not change beside a VPA", seen: vpa, is: "as it is" },
    { name: "F1: keeps the request beside an HPA", seen: hpa, is: "256Mi/768Mi" },
    {
      name: "is what was learned where pods cannot be resized in place",
      seen: { cluster: { inPlace: false, resizeAfterOomKill: false } },
      is: "512Mi/768Mi",
    },
    {
      name: "does not change after a stop",
      seen: {
        record: aRecord({
          learned,
          stops: [{ reason: "Contested", atMs: now, monitorUid: "monitor-uid", monitorGeneration: 1 }],
        }),
      },
      is: "as it is",
    },
  ])("$name", ({ is, ...given }) => {
    const { seen, pod, free } = { seen: {}, pod: starting(), free: 10_240, ...given };
    const size = startSizes(world(seen), pod, free === undefined ? undefined : mib(free)).get("memhog");
    expect(size === undefined ? "as it is" : `${readable(size.request ?? 0)}/${readable(size.limit)}`).toBe(is);
  });
});
