import { HorizontalPodAutoscaler, LimitRange, ResourceQuota } from "@memhog/runtime/kinds";
import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { autoscalerFacts, quotaFacts, rangeFacts } from "./namespace-facts.ts";

describe("facts about a namespace", () => {
  it("D5: contain the memory bounds of LimitRanges", () => {
    const limits = [
      { type: "Container", max: { memory: "1Gi", cpu: "2" }, maxLimitRequestRatio: { memory: "1500m" } },
      { type: "Pod", max: { memory: "2Gi" } },
      { type: "Container", max: { cpu: "1" } },
      { type: "PersistentVolumeClaim", max: { storage: "1Gi" } },
    ];
    expect(rangeFacts(anObject(LimitRange, { spec: { limits } }))).toEqual([
      { per: "Container", max: mib(1024), maxRatio: 1.5 },
      { per: "Pod", max: mib(2048), maxRatio: undefined },
    ]);
  });

  const hard = { "limits.memory": "4Gi", memory: "2Gi", pods: "10" };
  it.each([
    { name: "all pods", spec: { hard }, counts: true },
    { name: "pods that are not BestEffort", spec: { hard, scopes: ["NotBestEffort"] }, counts: true },
    { name: "BestEffort pods", spec: { hard, scopes: ["BestEffort"] }, counts: false },
    {
      name: "pods of a priority",
      spec: {
        hard,
        scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In" as const, values: ["high"] }] },
      },
      counts: false,
    },
  ])("D5: a ResourceQuota for $name limits raises: $counts", ({ spec, counts }) => {
    const quota = anObject(ResourceQuota, { spec, status: { hard, used: { "limits.memory": "1Gi", memory: "512Mi" } } });
    const both = [
      { of: "limits", hard: mib(4096), used: mib(1024) },
      { of: "requests", hard: mib(2048), used: mib(512) },
    ];
    expect(quotaFacts(quota)).toEqual(counts ? both : []);
  });

  it.each([
    { metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "Utilization" } } }], is: true },
    {
      metrics: [
        { type: "ContainerResource", containerResource: { name: "memory", container: "a", target: { type: "Utilization" } } },
      ],
      is: true,
    },
    { metrics: [{ type: "Resource", resource: { name: "memory", target: { type: "AverageValue" } } }], is: false },
    { metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization" } } }], is: false },
  ] as const)("F1: an HPA with %j depends on the memory request: $is", ({ metrics, is }) => {
    const spec = { maxReplicas: 5, scaleTargetRef: { kind: "Deployment", name: "web" }, metrics };
    expect(autoscalerFacts(anObject(HorizontalPodAutoscaler, { spec }))).toEqual({
      target: "Deployment/web",
      byMemoryUtilization: is,
    });
  });

  it.each([
    { ref: { kind: "Deployment", name: "web" }, target: "Deployment/web" },
    { ref: { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" }, target: "StatefulSet/db" },
    { ref: { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout", name: "web" }, target: "Other/Rollout.argoproj.io/web" },
  ])("F1: the target of an HPA has the name of the app: $target", ({ ref, target }) => {
    const spec = { maxReplicas: 5, scaleTargetRef: ref };
    expect(autoscalerFacts(anObject(HorizontalPodAutoscaler, { spec })).target).toBe(target);
  });
});
