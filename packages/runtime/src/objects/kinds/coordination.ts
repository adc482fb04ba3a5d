// Who is at work: coordination.k8s.io/v1.
import type { Kind, KubernetesObject } from "../object.ts";
import { namespacedKind } from "./kind.ts";

/** A claim that must be renewed: `coordination.k8s.io/v1` `leases`. */
export interface Lease extends KubernetesObject {
  readonly spec?: LeaseSpec;
}
export const Lease: Kind<Lease> = namespacedKind("coordination.k8s.io/v1", "Lease", "leases");

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** RFC 3339 with six digits of a second. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
  readonly preferredHolder?: string;
  readonly strategy?: string;
}
