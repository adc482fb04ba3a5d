// Endpoints, EndpointSlices, Ingresses, and NetworkPolicies. The server stores them without effect: the simulator has no network.
import { type ApiObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import { ageColumn, at, nameColumn, selectorText, text } from "./columns.ts";
import { builtIn, type KindEntry, status } from "./kind-entry.ts";
import { immutable } from "./validation.ts";

function endpointsText(endpoints: ApiObject): string {
  const found = listAt(endpoints, "subsets").flatMap((subset) =>
    listAt(subset, "addresses").flatMap(({ ip }) => listAt(subset, "ports").map(({ port }) => `${ip}:${port}`)),
  );
  return shortened(found, 3) || "<none>";
}

/** The first few, and the number of the others. */
function shortened(all: readonly unknown[], most: number): string {
  const more = all.length - most;
  return more > 0 ? `${all.slice(0, most).join(",")} + ${more} more...` : all.join(",");
}

export const endpoints: KindEntry = builtIn("", "v1", "Endpoints", {
  singular: "endpoints",
  plural: "endpoints",
  shortNames: ["ep"],
  createOnUpdate: true,
  warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  table: { "subsets[]": { "ports[]": { protocol: "TCP" } } },
  columns: [nameColumn, text("Endpoints", endpointsText), ageColumn],
});

export const endpointSlices: KindEntry = builtIn("discovery.k8s.io", "v1", "EndpointSlice", {
  generation: "spec",
  table: {
    "ports[]": { name: "", protocol: "TCP" },
  },
  validate: (slice, old) => immutable("addressType", slice, old),
  columns: [
    nameColumn,
    text("AddressType", ".addressType"),
    text(
      "Ports",
      (slice) =>
        shortened(
          listAt(slice, "ports").map(({ port }) => port ?? "*"),
          3,
        ) || "<unset>",
    ),
    text("Endpoints", (slice) => {
      const all = listAt(slice, "endpoints").flatMap(({ addresses }) => (Array.isArray(addresses) ? addresses : []));
      return shortened(all, 3) || "<unset>";
    }),
    ageColumn,
  ],
});

const policyTypes = (spec: JsonObject) => ["Ingress", ...(spec.egress === undefined ? [] : ["Egress"])];

export const networkPolicies: KindEntry = builtIn("networking.k8s.io", "v1", "NetworkPolicy", {
  plural: "networkpolicies",
  shortNames: ["netpol"],
  generation: "spec",
  table: {
    "spec!": {
      "ingress[]": { "ports[]": { protocol: "TCP" } },
      "egress[]": { "ports[]": { protocol: "TCP" } },
      policyTypes,
    },
  },
  columns: [nameColumn, text("Pod-Selector", (policy) => selectorText(valueAt(policy, "spec", "podSelector"))), ageColumn],
});

export const ingresses: KindEntry = builtIn("networking.k8s.io", "v1", "Ingress", {
  plural: "ingresses",
  shortNames: ["ing"],
  generation: "spec",
  columns: [
    nameColumn,
    text("Class", at(".spec.ingressClassName", "<none>")),
    text(
      "Hosts",
      (ingress) =>
        shortened(
          listAt(ingress, "spec", "rules").map(({ host }) => host ?? "*"),
          3,
        ) || "*",
    ),
    text("Address", (ingress) =>
      listAt(ingress, "status", "loadBalancer", "ingress")
        .map(({ ip, hostname }) => ip ?? hostname)
        .join(","),
    ),
    text("Ports", (ingress) => (objectAt(ingress, "spec").tls === undefined ? "80" : "80, 443")),
    ageColumn,
  ],
  subresources: status,
});
