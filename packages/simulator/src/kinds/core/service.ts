import { type ApiObject, type Draft, type JsonObject, listAt, objectAt, sameJson, valueAt } from "../../json.ts";
import { type FieldError, invalid, required } from "../../server/field-error.ts";
import { ageColumn, at, mapText, nameColumn, text, wide } from "../columns.ts";
import type { Defaults } from "../defaults.ts";
import type { KindEntry, PrepareContext } from "../kind-entry.ts";
import { builtIn, status } from "../row.ts";
import { isPort, oneOf, portText } from "../validation.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const hasNodePorts = ({ type }: JsonObject) => type === "NodePort" || type === "LoadBalancer";
const unless = (type: string, value: unknown) => (spec: JsonObject) => (spec.type === type ? undefined : value);

const table: Defaults = {
  "spec!": {
    type: "ClusterIP",
    sessionAffinity: "None",
    "ports[]": { protocol: "TCP", targetPort: ({ port }: JsonObject) => port },
    internalTrafficPolicy: unless("ExternalName", "Cluster"),
    externalTrafficPolicy: (spec: JsonObject) => (hasNodePorts(spec) ? "Cluster" : undefined),
    allocateLoadBalancerNodePorts: ({ type }: JsonObject) => (type === "LoadBalancer" ? true : undefined),
    ipFamilies: unless("ExternalName", ["IPv4"]),
    ipFamilyPolicy: unless("ExternalName", "SingleStack"),
  },
};

/** Headless services without a selector may be reached by any family: nobody knows their addresses. */
function prepare(draft: Draft, { old }: PrepareContext): void {
  const spec = { ...objectAt(draft, "spec") };
  draft.spec = spec;
  if (spec.clusterIP === "None" && spec.selector === undefined && old === undefined) {
    Object.assign(spec, { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" });
  }
  const address = spec.clusterIP ?? (spec.type === "ExternalName" ? undefined : valueAt(old, "spec", "clusterIP"));
  if (address !== undefined) Object.assign(spec, { clusterIP: address, clusterIPs: [address] });
}

function validate(service: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const spec = objectAt(service, "spec");
  const ports = listAt(spec, "ports");
  const portless = ports.length === 0 && spec.clusterIP !== "None" && spec.type !== "ExternalName";
  return [
    ...(portless ? [required("spec.ports")] : []),
    ...ports.flatMap((port, at) => portErrors(port, `spec.ports[${at}]`, ports.length > 1)),
    ...oneOf("spec.type", spec.type, types),
    ...addressErrors(service, old),
  ];
}

function portErrors({ name, port, targetPort }: JsonObject, field: string, several: boolean): readonly FieldError[] {
  return [
    ...(several && !name ? [required(`${field}.name`)] : []),
    ...(isPort(port) ? [] : [invalid(`${field}.port`, port, portText)]),
    ...(typeof targetPort !== "number" || isPort(targetPort) ? [] : [invalid(`${field}.targetPort`, targetPort, portText)]),
  ];
}

function addressErrors(service: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const before = valueAt(old, "spec", "clusterIP");
  const now = valueAt(service, "spec", "clusterIP");
  if (before === undefined || now === undefined || sameJson(before, now)) return [];
  return [invalid("spec.clusterIPs[0]", [now], "may not change once set")];
}

function portsText(service: ApiObject): string {
  const ports = listAt(service, "spec", "ports").map(
    ({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ""}/${protocol}`,
  );
  return ports.join(",") || "<none>";
}

function externalText(service: ApiObject): string {
  const { type, externalName, externalIPs } = objectAt(service, "spec");
  const given = Array.isArray(externalIPs) ? externalIPs : [];
  if (type === "ExternalName") return String(externalName);
  if (type !== "LoadBalancer") return given.join(",") || "<none>";
  const ingress = listAt(service, "status", "loadBalancer", "ingress").map(({ ip, hostname }) => ip ?? hostname);
  return [...ingress, ...given].join(",") || "<pending>";
}

export const services: KindEntry = builtIn("", "v1", "Service", {
  shortNames: ["svc"],
  categories: ["all"],
  names: "label",
  returnsDeleted: true,
  createOnUpdate: true,
  table,
  prepare,
  validate,
  selectableFields: {
    "spec.clusterIP": (service) => String(valueAt(service, "spec", "clusterIP") ?? ""),
    "spec.type": (service) => String(valueAt(service, "spec", "type") ?? ""),
  },
  columns: [
    nameColumn,
    text("Type", ".spec.type"),
    text("Cluster-IP", at(".spec.clusterIP", "<none>")),
    text("External-IP", externalText),
    text("Port(s)", portsText),
    ageColumn,
    text("Selector", (service) => mapText(objectAt(service, "spec", "selector")), wide),
  ],
  subresources: { ...status, proxy: { verbs: ["create", "delete", "get", "patch", "update"] } },
});
