// The defaults of a pod's spec, wherever it stands: in a pod, or in the template of something that makes pods.
import { isObject, type JsonObject, listAt } from "../json.ts";
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

/** What is limited and not requested is requested to its limit. */
function requestLimits(resources: JsonObject): void {
  const { limits, requests } = resources;
  if (isObject(limits)) resources.requests = { ...limits, ...(isObject(requests) ? requests : {}) };
}

/** An image without a tag, or tagged "latest", is pulled each time. */
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
  // Go cannot leave a volume without a source, so an empty directory it is.
  emptyDir: (parent: JsonObject) => (Object.keys(parent).length <= 1 ? {} : undefined),
};

/** Defaults that a template has as well. */
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

/** Defaults that only a pod itself has: a template stays as it was written. */
export const podOnlyDefaults: Defaults = {
  "initContainers[]": { "resources?": { "*": requestLimits } },
  "containers[]": { "resources?": { "*": requestLimits } },
  enableServiceLinks: true,
};

/** On the host's network every port of a container is a port of the host. */
function exposeHostPorts(spec: JsonObject): void {
  if (spec.hostNetwork !== true) return;
  for (const container of [...listAt(spec, "containers"), ...listAt(spec, "initContainers")]) {
    for (const port of listAt(container, "ports")) port.hostPort ??= port.containerPort;
  }
}
