// The table in the comment of grant.ts, line by line: a container of 256Mi/384Mi that uses 380 MiB, and johnny-cache.
import { expect, it } from "vitest";
import { bytes, mib, quantityText } from "../model/bytes.ts";
import { aContainerSeen, aNode, anApp, aPodSeen, aPolicy } from "../model/seen.fixture.ts";
import type { AppSeen, ContainerSeen, NamespaceLimits, PodSeen, RangeSeen } from "../model/seen.ts";
import { decisionOf } from "./verdict.fixture.ts";

const requests300: NamespaceLimits = {
  ranges: [],
  quotas: [{ name: "team", of: "requests", hard: mib(1_000), used: mib(956) }],
};
const ratio = (different: Partial<RangeSeen>): readonly RangeSeen[] => [
  { name: "ratio", per: "Container", max: undefined, maxRatio: 2, ...different },
];
const hot = (container: Partial<ContainerSeen> = {}, pod: Partial<PodSeen> = {}) => [
  aPodSeen({ containers: [aContainerSeen({ samples: [{ bytes: mib(380), ageMs: 1_000 }], ...container })], ...pod }),
];
const guaranteed = { request: mib(384) };

const cases: readonly { readonly name: string; readonly seen: Partial<AppSeen>; readonly gives: string }[] = [
  { name: "all of it without a cap", seen: {}, gives: "512Mi/768Mi" },
  {
    name: "as much as maxMemory allows, the request in proportion",
    seen: { policies: [aPolicy({ maxMemory: mib(600) })] },
    gives: "400Mi/600Mi by maxMemory",
  },
  {
    name: "whole MiB of a cap that is not whole",
    seen: { policies: [aPolicy({ maxMemory: bytes(500_000_000) })] },
    gives: "317Mi/476Mi by maxMemory",
  },
  {
    name: "the whole limit where only the request is capped",
    seen: { limits: requests300 },
    gives: "300Mi/768Mi by ResourceQuota/team",
  },
  {
    name: "no more limit than its ratio to the request may be",
    seen: { limits: { ...requests300, ranges: ratio({}) } },
    gives: "300Mi/600Mi by LimitRange/ratio",
  },
  {
    name: "no more limit than the ratio of the sums over the pod may be",
    seen: { limits: { ...requests300, ranges: ratio({ per: "Pod" }) } },
    gives: "300Mi/600Mi by LimitRange/ratio",
  },
  {
    name: "all of it where both grow alike and the ratio stays",
    seen: { limits: { quotas: [], ranges: ratio({}) } },
    gives: "512Mi/768Mi",
  },
  {
    name: "request and limit as one for Guaranteed",
    seen: { pods: hot(guaranteed, { qos: "Guaranteed", node: aNode({ allocatable: mib(1_000), requested: mib(884) }) }) },
    gives: "500Mi/500Mi by Node/n1",
  },
  {
    name: "not more than the node has, though Kubernetes would allow it",
    seen: { pods: hot({}, { node: aNode({ allocatable: mib(512), requested: mib(256) }) }) },
    gives: "341Mi/512Mi by Node/n1",
  },
  { name: "nothing for less than 2 %", seen: { policies: [aPolicy({ maxMemory: mib(388) })] }, gives: "AtCeiling by maxMemory" },
  { name: "something from 2 % on", seen: { policies: [aPolicy({ maxMemory: mib(392) })] }, gives: "261Mi/392Mi by maxMemory" },
  {
    name: "nothing under a cap below what it has",
    seen: { policies: [aPolicy({ maxMemory: mib(100) })] },
    gives: "AtCeiling by maxMemory",
  },
  {
    name: "a step as small as the multiplier asks for",
    seen: { policies: [aPolicy({ multiplier: 1.01 })] },
    gives: "259Mi/388Mi",
  },
  { name: "half as much again for 1.5", seen: { policies: [aPolicy({ multiplier: 1.5 })] }, gives: "384Mi/576Mi" },
  { name: "the limit alone where there is no request", seen: { pods: hot({ request: undefined }) }, gives: "none/768Mi" },
  {
    name: "nothing beyond what can be counted",
    seen: {
      pods: hot(
        { limit: bytes(2 ** 52), request: mib(1), samples: [{ bytes: bytes(2 ** 52), ageMs: 1_000 }] },
        { node: undefined },
      ),
    },
    gives: "AtCeiling by the largest number",
  },
];

it.each(cases)("D5: grants $name", ({ seen, gives }) => expect(granted(anApp({ pods: hot(), ...seen }))).toBe(gives));

it("says what was wanted where nothing can be granted", () => {
  const decision = decisionOf(anApp({ pods: hot(), policies: [aPolicy({ maxMemory: mib(384) })] }));
  expect(decision).toMatchObject({ kind: "hold", wanted: { limit: mib(768), request: mib(512) }, cap: "maxMemory" });
  expect(decision.detail).toBe("380Mi of 384Mi are used: 99.0 %, the threshold is 75 %; maxMemory leaves no more than 384Mi");
});

function granted(seen: AppSeen): string {
  const decision = decisionOf(seen);
  if (decision.kind === "hold") return `${decision.reason} by ${decision.cap}`;
  const { request, limit } = decision.granted;
  const by = decision.cappedBy === undefined ? "" : ` by ${decision.cappedBy}`;
  return `${request === undefined ? "none" : quantityText(request)}/${quantityText(limit)}${by}`;
}
