// Kinds of the network: Ingress, NetworkPolicy. See `kubectl explain ingress.spec`.
import type { Kind, KubernetesObject } from "../object.ts";
import { type IntOrString, type LabelSelector, namespacedKind, type ObjectReference } from "./kind.ts";

/** `networking.k8s.io/v1` `ingresses`. */
export interface Ingress extends KubernetesObject {
  readonly spec?: IngressSpec;
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] };
  };
}
export const Ingress: Kind<Ingress> = namespacedKind("networking.k8s.io/v1", "Ingress", "ingresses");

export interface IngressSpec {
  readonly ingressClassName?: string;
  readonly defaultBackend?: IngressBackend;
  readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[];
  readonly rules?: readonly {
    readonly host?: string;
    readonly http?: {
      readonly paths: readonly {
        readonly path?: string;
        readonly pathType: "Exact" | "Prefix" | "ImplementationSpecific";
        readonly backend: IngressBackend;
      }[];
    };
  }[];
}

export interface IngressBackend {
  readonly service?: { readonly name: string; readonly port?: { readonly number?: number; readonly name?: string } };
  readonly resource?: Pick<ObjectReference, "kind" | "name"> & { readonly apiGroup?: string };
}

/** `networking.k8s.io/v1` `networkpolicies`. */
export interface NetworkPolicy extends KubernetesObject {
  readonly spec?: NetworkPolicySpec;
}
export const NetworkPolicy: Kind<NetworkPolicy> = namespacedKind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies");

export interface NetworkPolicySpec {
  /** The pods of the namespace that it applies to; `{}` for all. */
  readonly podSelector: LabelSelector;
  readonly policyTypes?: readonly ("Ingress" | "Egress")[];
  readonly ingress?: readonly { readonly from?: readonly NetworkPeer[]; readonly ports?: readonly NetworkPolicyPort[] }[];
  readonly egress?: readonly { readonly to?: readonly NetworkPeer[]; readonly ports?: readonly NetworkPolicyPort[] }[];
}

export interface NetworkPeer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

export interface NetworkPolicyPort {
  readonly protocol?: "TCP" | "UDP" | "SCTP";
  readonly port?: IntOrString;
  readonly endPort?: number;
}
