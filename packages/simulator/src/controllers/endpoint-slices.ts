// EndpointSlices: the addresses behind each Service with a selector, in one slice per Service.
import { child, declarative, Pod, Service, type Stored } from "@memhog/runtime";
import { type Endpoint, type EndpointPort, EndpointSlice, type ServicePort } from "@memhog/runtime/kinds";
import { matches } from "@memhog/runtime/objects";
import { hasEnded, isBeingDeleted, isReady } from "./workload.ts";

export const endpointSlices = declarative(
  Service,
  {
    name: "endpointslice",
    owns: [EndpointSlice],
    watches: [
      {
        kind: Pod,
        map: (pod, cached) =>
          cached
            .list(Service, { namespace: pod.metadata.namespace })
            .filter((each) => leadsTo(each, pod))
            .map(({ metadata }) => metadata),
      },
    ],
  },
  (service, seen) => {
    const selects = Object.keys(service.spec?.selector ?? {}).length > 0 && service.spec?.type !== "ExternalName";
    if (!selects) return { children: [] };
    const { namespace } = service.metadata;
    const pods = seen.list(Pod, namespace === undefined ? {} : { namespace }).filter((pod) => leadsTo(service, pod));
    return { children: [child(EndpointSlice, sliceOf(service, pods))] };
  },
);

function leadsTo({ spec }: Stored<Service>, { metadata }: Stored<Pod>): boolean {
  const { selector = {} } = spec ?? {};
  return Object.keys(selector).length > 0 && matches({ matchLabels: selector }, metadata.labels);
}

type NamedSlice = EndpointSlice & { readonly metadata: { readonly name: string } };

export function sliceOf(service: Stored<Service>, pods: readonly Stored<Pod>[]): NamedSlice {
  const { name } = service.metadata;
  const reached = pods
    .filter((pod) => pod.status?.podIP !== undefined && !hasEnded(pod))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return {
    metadata: {
      name: `${name}-pods`,
      labels: {
        ...service.metadata.labels,
        "kubernetes.io/service-name": name,
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      },
    },
    addressType: "IPv4",
    endpoints: reached.map((pod) => endpointOf(service, pod)),
    ports: (service.spec?.ports ?? []).map((port) => portOf(port, reached[0])),
  };
}

function endpointOf({ spec }: Stored<Service>, pod: Stored<Pod>): Endpoint {
  const { name, namespace, uid } = pod.metadata;
  const serving = isReady(pod) || spec?.publishNotReadyAddresses === true;
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: {
      ready: serving && (!isBeingDeleted(pod) || spec?.publishNotReadyAddresses === true),
      serving,
      terminating: isBeingDeleted(pod),
    },
    targetRef: { kind: "Pod", ...(namespace !== undefined && { namespace }), name, uid },
    ...(pod.spec.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
  };
}

/** The number of a named port, from the first pod. Pods with different numbers would need several slices, which are not supported. */
function portOf(
  { name = "", port, targetPort = port, protocol = "TCP" }: ServicePort,
  pod: Stored<Pod> | undefined,
): EndpointPort {
  const named = pod?.spec.containers.flatMap(({ ports = [] }) => ports).find((each) => each.name === targetPort)?.containerPort;
  const number = typeof targetPort === "number" ? targetPort : named;
  return { name, ...(number !== undefined && { port: number }), protocol };
}
