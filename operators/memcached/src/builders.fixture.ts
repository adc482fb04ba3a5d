// For tests without a cluster: a Memcached, its Deployment and its pods, as the API server would have stored them.
import { Deployment, ownerReferenceTo } from "@memhog/runtime";
import { anObject, aPod } from "@memhog/runtime/testing";
import { defaults, Memcached } from "./api.ts";
import { deploymentFor } from "./deployment.ts";

export function aMemcached(spec: Partial<Memcached["spec"]> = {}, status: object = {}) {
  const whole = { size: 3, version: "1.6.9", containerPort: defaults.port, ...spec };
  return anObject(Memcached, { metadata: { name: "cache" }, spec: whole, status: { observedGeneration: 1, ...status } as never });
}

/** The Deployment of a Memcached, rolled out unless its status says otherwise. */
export function itsDeployment(memcached = aMemcached(), status: object = {}) {
  const { metadata, spec } = deploymentFor(memcached, "memcached");
  const replicas = spec.replicas ?? 0;
  const settled = {
    observedGeneration: 1,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  const ownerReferences = [ownerReferenceTo(memcached, Memcached)];
  return anObject(Deployment, { metadata: { ...metadata, ownerReferences }, spec, status: { ...settled, ...status } });
}

/** One of its pods: ready, or waiting for something. */
export function itsPod(name: string, waiting?: string, version = "1.6.9") {
  const ready = {
    type: "Ready",
    status: waiting === undefined ? "True" : "False",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  } as const;
  const state = waiting === undefined ? {} : { waiting: { reason: waiting } };
  return aPod({
    metadata: { name },
    spec: { containers: [{ name: "memcached", image: `memcached:${version}` }] },
    status: { conditions: [ready], containerStatuses: [{ name: "memcached", state }] },
  });
}
