// The addresses inside a sandbox. Every sandbox has a network of its own without a route out, so they are the same in every cluster
// and cannot conflict with addresses of the machine.

/** The address of the node, on a bridge without ports. The API server, the kubelet and Prometheus are reached at it. */
export const nodeAddress = "10.32.0.1";

/** Where the API server listens inside. Its port on the host is a free one. */
export const apiServerPort = 6443;

export const podRange = "10.244.0.0/16";

/** --service-cluster-ip-range of the API server; kube-proxy and routes go by it. */
export const serviceRange = "10.96.0.0/16";

/** The first address of that range: the Service `kubernetes` in `default`. The API server's certificate names it. */
export const kubernetesServiceAddress = "10.96.0.1";
