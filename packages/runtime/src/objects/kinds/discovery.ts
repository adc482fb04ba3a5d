// Where a Service leads: discovery.k8s.io/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import type { ObjectReference } from "./common.ts";
import { namespacedKind } from "./kind.ts";

/** Some of the addresses behind a Service: `discovery.k8s.io/v1` `endpointslices`. */
export interface EndpointSlice extends KubernetesObject {
  readonly addressType: "IPv4" | "IPv6" | "FQDN";
  readonly endpoints: readonly Endpoint[];
  readonly ports?: readonly EndpointPort[];
}
export const EndpointSlice: Kind<EndpointSlice> = namespacedKind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices");

export interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly targetRef?: ObjectReference;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: { readonly forZones?: readonly { readonly name: string }[] };
}

export interface EndpointPort {
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly appProtocol?: string;
}
