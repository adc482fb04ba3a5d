// Defaults of pod specs, in pods and in templates.

import { parseQuantity } from "@memhog/runtime";
import type { Quantity } from "@memhog/runtime/objects";
import { isObject, type JsonObject, listAt, objectAt } from "../json.ts";
import type { Defaults } from "./defaults.ts";

const fieldRef: Defaults = { apiVersion: "v1" };

const probeAction: Defaults = {
  "httpGet?": { path: "/", scheme: "HTTP" },
  "grpc?": { service: "" },
};

const probe: Defaults = {
  ...probeAction,
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};

/** Sets missing requests to the limit. */
function requestLimits(resources: JsonObject): void {
  const { limits, requests } = resources;
  if (isObject(limits)) resources.requests = { ...limits, ...(isObject(requests) ? requests : {}) };
}

/** Always for an image without a tag or with the tag "latest". */
function pullPolicy({ image }: JsonObject): string {
  const name = typeof image === "string" ? image : "";
  const last = name.slice(name.lastIndexOf("/") + 1);
  if (last.includes("@")) return "IfNotPresent";
  return !last.includes(":") || last.endsWith(":latest") ? "Always" : "IfNotPresent";
}

const container: Defaults = {
  "ports[]": { protocol: "TCP" },
  "env[]": { "valueFrom?": { "fieldRef?": fieldRef } },
  "livenessProbe?": probe,
  "readinessProbe?": probe,
  "startupProbe?": probe,
  "lifecycle?": { "preStop?": probeAction, "postStart?": probeAction },
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  imagePullPolicy: pullPolicy,
};

const downwardItems: Defaults = { "items[]": { "fieldRef?": fieldRef } };

const volume: Defaults = {
  "secret?": { defaultMode: 420 },
  "configMap?": { defaultMode: 420 },
  "hostPath?": { type: "" },
  "downwardAPI?": { ...downwardItems, defaultMode: 420 },
  "projected?": {
    "sources[]": { "serviceAccountToken?": { expirationSeconds: 3600 }, "downwardAPI?": downwardItems },
    defaultMode: 420,
  },
  "ephemeral?": { "volumeClaimTemplate?": { "spec?": { volumeMode: "Filesystem" } } },
  // Go gives a volume without a source an empty directory.
  emptyDir: (parent: JsonObject) => (Object.keys(parent).length <= 1 ? {} : undefined),
};

/** Defaults for pods and templates. */
export const podSpecDefaults: Defaults = {
  "volumes[]": volume,
  "initContainers[]": container,
  "containers[]": container,
  "ephemeralContainers[]": container,
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  serviceAccount: ({ serviceAccountName }: JsonObject) => serviceAccountName,
  serviceAccountName: ({ serviceAccount }: JsonObject) => serviceAccount,
  securityContext: {},
  schedulerName: "default-scheduler",
  "*": exposeHostPorts,
};

/** Defaults only for pods; templates do not get them. */
export const podOnlyDefaults: Defaults = {
  "initContainers[]": { "resources?": { "*": requestLimits } },
  "containers[]": { "resources?": { "*": requestLimits } },
  enableServiceLinks: true,
};

/** With hostNetwork, every container port is also a host port. */
function exposeHostPorts(spec: JsonObject): void {
  if (spec.hostNetwork !== true) return;
  for (const container of [...listAt(spec, "containers"), ...listAt(spec, "initContainers")]) {
    for (const port of listAt(container, "ports")) port.hostPort ??= port.containerPort;
  }
}

// The QoS class of a pod.

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

const counted = ["cpu", "memory"] as const;

/** Returns the QoS class of a pod. Includes init containers; ignores resources other than CPU and memory. */
export function qosClassOf(spec: JsonObject): QosClass {
  const ofPod = objectAt(spec, "resources");
  const resources =
    Object.keys(ofPod).length > 0
      ? [ofPod]
      : [...listAt(spec, "containers"), ...listAt(spec, "initContainers")].map((container) => objectAt(container, "resources"));
  const requests = resources.map((each) => positive(objectAt(each, "requests")));
  const limits = resources.map((each) => positive(objectAt(each, "limits")));
  if ([...requests, ...limits].every((each) => each.size === 0)) return "BestEffort";
  const limited = limits.every((each) => counted.every((name) => each.has(name)));
  const asRequested = counted.every((name) => same(total(requests, name), total(limits, name)));
  return limited && asRequested ? "Guaranteed" : "Burstable";
}

function positive(amounts: JsonObject): Map<string, Quantity> {
  const parsed = counted.flatMap((name) => (name in amounts ? [[name, parseQuantity(String(amounts[name]))] as const] : []));
  return new Map(parsed.filter(([, amount]) => amount.sign > 0));
}

function total(all: readonly Map<string, Quantity>[], name: string): Quantity | undefined {
  const found = all.flatMap((each) => each.get(name) ?? []);
  return found.length === 0 ? undefined : found.reduce((sum, each) => sum.add(each));
}

function same(a: Quantity | undefined, b: Quantity | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.equals(b));
}
