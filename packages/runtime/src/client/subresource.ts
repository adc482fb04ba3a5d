// Doors beside the main one of an object. Most take and give the object itself (`status`, `resize`); some speak a type of
// their own, and the compiler knows which: `client.get(Deployment, ref, { subresource: "scale" })` is a Scale.
import { apiVersionOf, type Kind, type KubernetesObject, type Stored } from "../objects/object.ts";
import type { Status } from "./answer.ts";

/** `autoscaling/v1`: how many, whatever it is that is counted. */
export interface Scale extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas: number; readonly selector?: string };
}

/** `policy/v1`: a deletion that asks the disruption budgets first. */
export interface Eviction extends KubernetesObject {
  readonly deleteOptions?: {
    readonly gracePeriodSeconds?: number;
    readonly dryRun?: readonly string[];
    readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  };
}

/** The known ones, for completion; any other name may be given. */
export type Subresource = "status" | "scale" | "resize" | "eviction" | "ephemeralcontainers" | "token" | (string & {});

/** What a kind of T speaks at the subresource S; undefined is the main door. */
export type Spoken<T, S> = S extends "scale"
  ? Scale
  : S extends "eviction"
    ? Eviction
    : S extends "status" | "resize" | "ephemeralcontainers" | undefined
      ? T
      : KubernetesObject;

/** What comes back from there. Spelled out, so that the main door is simply `Stored<T>` in generic code too. */
export type Answered<T extends KubernetesObject, S> = S extends "eviction"
  ? Status
  : S extends "scale"
    ? Stored<Scale>
    : S extends "status" | "resize" | "ephemeralcontainers" | undefined
      ? Stored<T>
      : Stored<KubernetesObject>;

const ownTypes: Readonly<Record<string, { readonly apiVersion: string; readonly kind: string }>> = {
  scale: { apiVersion: "autoscaling/v1", kind: "Scale" },
  eviction: { apiVersion: "policy/v1", kind: "Eviction" },
  token: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" },
};

/** How what is sent there names its type, for those who left it out. */
export function typeAt(kind: Kind, subresource: string | undefined): { readonly apiVersion: string; readonly kind: string } {
  return (subresource && ownTypes[subresource]) || { apiVersion: apiVersionOf(kind), kind: kind.kind };
}
