// Monitored workloads, annotated with the memory usage that the simulated node gives them.
import type { Deployment, Pod } from "@memhog/runtime";
import { monitorAnnotation } from "../../src/api/names.ts";

export interface HogOptions {
  readonly namespace?: string;
  /** A memory profile of the simulator: "300Mi", "ramp 1Mi/s to 500Mi". @default 300Mi, which is more than 75 % of 384Mi */
  readonly memory?: string;
  /** @default 256Mi */
  readonly request?: string;
  /** @default 384Mi */
  readonly limit?: string;
  /** CPU request and limit; makes a pod Guaranteed if its memory request equals its limit. @default none */
  readonly cpu?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** Adds a readiness probe, so that the annotation "simulator.memhog.dev/ready.main" takes effect. @default false */
  readonly probe?: boolean;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

export function hogPod(name: string, options: HogOptions = {}): Pod {
  const { metadata, spec } = template(name, options);
  return { metadata: { namespace: options.namespace ?? "default", name, ...metadata }, spec };
}

export function hogDeployment(name: string, options: HogOptions & { readonly replicas?: number } = {}): Deployment {
  return {
    metadata: { namespace: options.namespace ?? "default", name },
    spec: { replicas: options.replicas ?? 1, selector: { matchLabels: { app: name } }, template: template(name, options) },
  };
}

function template(name: string, options: HogOptions) {
  const {
    memory = "300Mi",
    request = "256Mi",
    limit = "384Mi",
    annotations = {},
    labels = {},
    env = [],
    probe = false,
  } = options;
  const cpu = options.cpu === undefined ? {} : { cpu: options.cpu };
  const resources = { requests: { memory: request, ...cpu }, limits: { memory: limit, ...cpu } };
  const told = { [monitorAnnotation]: "true", "simulator.memhog.dev/memory.main": memory };
  return {
    metadata: { labels: { app: name, ...labels }, annotations: { ...told, ...annotations } },
    spec: { containers: [{ name: "main", image: "example.com/hog:1", resources, env, ...(probe && { readinessProbe }) }] },
  };
}

const readinessProbe = { exec: { command: ["ready"] }, periodSeconds: 1 };

/** Expected memory request and limit of the first container: "512Mi/768Mi". */
export function sizeOf({ spec }: Pod): string {
  const { requests = {}, limits = {} } = spec.containers[0]?.resources ?? {};
  return `${requests.memory}/${limits.memory}`;
}
