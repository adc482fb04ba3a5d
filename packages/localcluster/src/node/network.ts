// The addresses inside a sandbox. Every sandbox has a network of its own, with no way out, so they are the same in every
// cluster and meet nothing of the machine's.

/** The address of the node, on a bridge without ports. Everything inside is reached at it: API server, kubelet, Prometheus. */
export const nodeAddress = "10.32.0.1";

/** Where the API server listens inside; its port on the host is chosen free. */
export const apiServerPort = 6443;

/** Pods get their addresses from here. */
export const podRange = "10.244.0.0/16";

/** What the API server of a cluster with a real node must have as --service-cluster-ip-range; kube-proxy and routes go by it. */
export const serviceRange = "10.96.0.0/16";

/** The first address of that range: the Service `kubernetes` in `default`. The API server's certificate must name it. */
export const kubernetesServiceAddress = "10.96.0.1";
