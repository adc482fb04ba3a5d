import { type ApiObject, type Draft, type JsonObject, listAt, objectAt, sameJson, valueAt } from "../../json.ts";
import { duplicate, type FieldError, invalid, required } from "../../server/field-error.ts";
import { ageColumn, at, mapText, nameColumn, text, wide } from "../columns.ts";
import type { Defaults } from "../defaults.ts";
import { builtIn, type KindEntry, type PrepareContext, status } from "../kind-entry.ts";
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

/** A headless service without a selector can have any IP family, because its addresses are unknown. */
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
    ...duplicatePortErrors(ports),
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

/** Names, and pairs of port and protocol, must be unique. */
function duplicatePortErrors(ports: readonly JsonObject[]): readonly FieldError[] {
  const repeats = (key: (port: JsonObject) => string | undefined) => (port: JsonObject, at: number) =>
    key(port) !== undefined && ports.slice(0, at).some((other) => key(other) === key(port));
  const sameName = repeats(({ name }) => (name ? String(name) : undefined));
  const samePort = repeats(({ port, protocol }) => `${port}/${protocol}`);
  return [
    ...ports.flatMap((port, at) => (sameName(port, at) ? [duplicate(`spec.ports[${at}].name`, port.name)] : [])),
    ...ports.flatMap((port, at) =>
      samePort(port, at) ? [duplicate(`spec.ports[${at}]`, { port: port.port, protocol: port.protocol })] : [],
    ),
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
