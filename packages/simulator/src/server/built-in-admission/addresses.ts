// Addresses of Services: one that is free, of a range that leads nowhere. Nothing answers there; it only has to look right.
import { type ApiObject, type JsonObject, listAt, objectAt, valueAt } from "../../json.ts";
import type { Admission } from "../admission.ts";
import type { ServerCore } from "../core.ts";
import { invalid as invalidField } from "../field-error.ts";
import { invalid } from "../status-error.ts";

const services = { group: "", plural: "services" };
const firstNodePort = 30_000;
const nodePorts = 2768;

export function serviceAddresses({ storage, environment }: Pick<ServerCore, "storage" | "environment">): Admission {
  const any = (count: number) => Math.floor(environment.random() * count);
  const freeAddress = (taken: ReadonlySet<unknown>): string => {
    const address = `10.96.${any(256)}.${1 + any(254)}`;
    return taken.has(address) ? freeAddress(taken) : address;
  };
  const freePort = (taken: Set<unknown>): number => {
    const port = firstNodePort + any(nodePorts);
    if (taken.has(port)) return freePort(taken);
    taken.add(port);
    return port;
  };
  return {
    mutate: (draft, { operation, kind, subresource, oldObject }) => {
      if (kind.group !== "" || kind.plural !== "services" || subresource !== undefined) return false;
      const spec = objectAt(draft, "spec");
      const others = storage.list(services).filter(({ metadata }) => metadata.uid !== oldObject?.metadata.uid);
      const addresses = new Set(others.map((other) => valueAt(other, "spec", "clusterIP")));
      if (operation === "CREATE" && spec.clusterIP !== undefined && spec.clusterIP !== "None" && addresses.has(spec.clusterIP)) {
        throw taken(draft.metadata.name ?? "", spec.clusterIP);
      }
      const had = valueAt(oldObject, "spec", "clusterIP");
      if (spec.type !== "ExternalName" && spec.clusterIP === undefined) spec.clusterIP = had ?? freeAddress(addresses);
      if (wantsNodePorts(spec)) givePorts(spec, oldObject, new Set(others.flatMap(portsOf)), freePort);
      draft.spec = spec;
      return true;
    },
  };
}

function wantsNodePorts({ type, allocateLoadBalancerNodePorts }: JsonObject): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

function portsOf(service: ApiObject): readonly unknown[] {
  return listAt(service, "spec", "ports").map(({ nodePort }) => nodePort);
}

function givePorts(spec: JsonObject, old: ApiObject | undefined, used: Set<unknown>, free: (used: Set<unknown>) => number): void {
  for (const port of listAt(spec, "ports")) {
    const before = listAt(old, "spec", "ports").find((each) => each.port === port.port && each.protocol === port.protocol);
    port.nodePort ??= before?.nodePort ?? free(used);
  }
}

function taken(name: string, address: unknown) {
  const why = `failed to allocate IP ${address}: provided IP is already allocated`;
  return invalid({ group: "", kind: "Service" }, name, [invalidField("spec.clusterIPs", [address], why)]);
}
