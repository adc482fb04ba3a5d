// Everything that can be said about hollow nodes, and what holds when it is not.
import { type Client, type Environment, type Logger, silentLogger } from "@memhog/runtime";
import type { Pull } from "./images.ts";
import type { MemoryModel } from "./memory/model.ts";
import { type NodeSpec, type ResolvedNode, resolveNode, someNodes } from "./node-spec.ts";
import { defaultTiming, type Timing } from "./pod-tools.ts";
import type { ProgramOf } from "./program/program.ts";

export interface HollowNodesOptions {
  /** Of the simulator or of a real API server. Give it a generous rate limit: every node and pod goes through it. */
  readonly client: Client;
  readonly environment: Environment;
  /** So many nodes of the default kind: node-1, node-2 … @default 1 */
  readonly count?: number;
  /** Which nodes, one by one. Wins over `count`. */
  readonly specs?: readonly NodeSpec[];
  /** What containers do; wins over annotations and commands, question by question. See program/program.ts. */
  readonly programOf?: ProgramOf;
  /** Only their memory, as a model or in words: `() => "ramp 1Mi/s to 500Mi"`. Wins over `programOf`. */
  readonly memoryOf?: (...asked: Parameters<ProgramOf>) => MemoryModel | string | undefined;
  /** What becomes of pulling an image. @default every image is there */
  readonly pull?: Pull;
  /** How long things take. */
  readonly timing?: Partial<Timing>;
  /** Milliseconds between two renewals of a node's Lease. @default 10 s, as the kubelet */
  readonly leaseRenewMs?: number;
  /** Milliseconds for which cAdvisor still shows a container that has ended. @default 0: containerd removes its cgroup */
  readonly deadSeriesMs?: number;
  /** Pods whose status is written at the same time. @default 16 */
  readonly concurrency?: number;
  /** @default silence */
  readonly log?: Logger;
}

export interface ResolvedOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly specs: readonly ResolvedNode[];
  readonly programOf: ProgramOf | undefined;
  readonly pull: Pull;
  readonly timing: Timing;
  readonly leaseRenewMs: number;
  readonly deadSeriesMs: number;
  readonly concurrency: number;
  readonly log: Logger;
}

export function resolveOptions(options: HollowNodesOptions): ResolvedOptions {
  const { client, environment, count = 1, specs = someNodes(count) } = options;
  const { pull = () => undefined, timing, leaseRenewMs = 10_000, deadSeriesMs = 0 } = options;
  const { concurrency = 16, log = silentLogger } = options;
  return {
    ...{ client, environment, pull, leaseRenewMs, deadSeriesMs, concurrency, log },
    specs: specs.map(resolveNode),
    programOf: programIn(options),
    timing: { ...defaultTiming, ...timing },
  };
}

function programIn({ programOf, memoryOf }: HollowNodesOptions): ProgramOf | undefined {
  if (memoryOf === undefined) return programOf;
  return (pod, container) => {
    const memory = memoryOf(pod, container);
    return { ...programOf?.(pod, container), ...(memory !== undefined && { memory }) };
  };
}
