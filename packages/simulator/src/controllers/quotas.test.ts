import { PersistentVolumeClaim, ResourceQuota } from "@memhog/runtime/kinds";
import { anObject, aPod } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { decideUsage } from "./quotas.ts";

const hard = (...names: string[]) => Object.fromEntries(names.map((name) => [name, "100"]));
const claim = anObject(PersistentVolumeClaim, { spec: { resources: { requests: { storage: "1.5Gi" } } } });
/** Requests 100m and 256Mi, limit 384Mi. */
const contents = {
  pods: [aPod(), aPod({ metadata: { name: "two" } }), aPod({ status: { phase: "Succeeded" } })],
  claims: [claim, claim],
  counts: new Map([["deployments.apps", 4]]),
};
const used = (names: readonly string[], scopes: readonly string[] = []) =>
  decideUsage(anObject(ResourceQuota, { spec: { hard: hard(...names), scopes } }), contents).used;

it("a ResourceQuota counts requests and limits of pods that are not terminated", () => {
  expect(used(["pods", "cpu", "requests.cpu", "requests.memory", "limits.memory", "limits.cpu"])).toEqual({
    ...{
      pods: "2",
      cpu: "200m",
      "requests.cpu": "200m",
      "requests.memory": "512Mi",
      "limits.memory": "768Mi",
      "limits.cpu": "0",
    },
  });
});

it("a ResourceQuota counts objects, including terminated pods", () => {
  expect(used(["count/pods", "persistentvolumeclaims", "requests.storage", "count/deployments.apps"])).toEqual({
    ...{ "count/pods": "3", persistentvolumeclaims: "2", "requests.storage": "3Gi", "count/deployments.apps": "4" },
  });
});

it("a ResourceQuota counts only pods in its scopes", () => {
  expect(used(["pods"], ["BestEffort"])).toEqual({ pods: "0" });
  expect(used(["pods"], ["NotBestEffort", "NotTerminating"])).toEqual({ pods: "2" });
});

it("a ResourceQuota omits resources that cannot be counted", () => {
  expect(used(["count/widgets.example.com"])).toEqual({});
});
