// Where a control plane stands: in which place its processes run, and by which addresses it is reached there and on the host.
// On the host both are 127.0.0.1 and the same port; in a sandbox the API server listens at the node's address, and a
// forwarder holds the port on the host.
import { kubernetesServiceAddress } from "../node/network.ts";
import type { Place } from "../process/place.ts";

export interface Site {
  readonly place: Place;
  /** What the API server binds, advertises and is called by, inside. */
  readonly address: string;
  readonly port: number;
  /** Where clients on the host find it, at 127.0.0.1. */
  readonly hostPort: number;
}

/** What components of the cluster use. */
export const serverInside = ({ address, port }: Site): string => `https://${address}:${port}`;

/** What people and tests on this machine use. */
export const serverOnHost = ({ hostPort }: Site): string => `https://127.0.0.1:${hostPort}`;

/** By these names and addresses the API server is called, whoever calls. */
export function apiServerHosts(address: string): readonly string[] {
  const inCluster = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];
  return [...new Set(["localhost", "127.0.0.1", ...inCluster, kubernetesServiceAddress, address])];
}
