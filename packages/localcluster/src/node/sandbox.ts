import type { Place } from "../process/place.ts";
import type { Progress } from "../progress.ts";
import type { ClusterDirectory } from "../state/directory.ts";

export interface Sandbox extends Place {
  /** Where programs inside are reached by each other: 10.32.0.1 (see network.ts). */
  readonly nodeAddress: string;
  /** Makes a port of the inside reachable at 127.0.0.1:PORT on the host, and says which. Outlives this process. */
  forward(insidePort: number, options?: ForwardOptions): Promise<number>;
  /** Makes a server on this machine's 127.0.0.1 reachable from inside, as long as this process lives: { address, port }. */
  expose(hostPort: number): Promise<{ readonly address: string; readonly port: number }>;
  /** Ends every process inside at once, containers included; their mounts, links and rules go with them. */
  stop(): Promise<void>;
}

export interface ForwardOptions {
  /** @default a free one */
  readonly hostPort?: number;
  /** @default nodeAddress */
  readonly insideAddress?: string;
}

export interface SandboxOptions {
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

/** Checks that a real node can work here (requirements.ts), fetches what is missing (packages.ts), makes the namespaces. */
export async function startSandbox(_directory: ClusterDirectory, _options: SandboxOptions = {}): Promise<Sandbox> {
  throw new Error("helper C is writing this");
}

/** The sandbox of a running cluster, for another process (`localcluster load`); undefined if the cluster has none. */
export async function openSandbox(_directory: ClusterDirectory): Promise<Sandbox | undefined> {
  throw new Error("helper C is writing this");
}
