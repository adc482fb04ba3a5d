// Starts a cluster: options, binaries, directory, control plane, nodes. If a step fails or the start is aborted, everything that was
// started is removed. Only the logs of a failed start are kept, until the next start, because the error refers to them.
import { join } from "node:path";
import { waitForDefaultServiceAccount } from "./api/objects.ts";
import { type BinaryPaths, findBinaries } from "./binaries/binaries.ts";
import { type Cluster, type Connection, connectTo, OwnedCluster } from "./cluster.ts";
import { hostNetwork, sandboxNetwork, startControlPlane } from "./control-plane/control-plane.ts";
import { InterruptedError } from "./errors.ts";
import { startNode } from "./node/node.ts";
import { checkNodeRequirements } from "./node/requirements.ts";
import { type Sandbox, startSandbox } from "./node/sandbox.ts";
import { type ResolvedOptions, resolveOptions, type StartOptions } from "./options.ts";
import type { Component } from "./process/component.ts";
import { assertPortFree } from "./process/sockets.ts";
import { startSimulator } from "./simulated.ts";
import { type ClusterRecord, hasControllers, pidNamespace, thisProcess, writeRecord } from "./state/directory.ts";
import { claimName, cleanUp, removeAbandoned, stopOnExit } from "./state/lifecycle.ts";

/**
 * Starts a real Kubernetes on this machine and waits until it is ready. The cluster is removed when it is disposed, and at the latest
 * when this process ends.
 *
 *     await using cluster = await startCluster();
 *     await cluster.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "greeting" }, data: { hello: "world" } });
 */
export async function startCluster(options: StartOptions = {}): Promise<Cluster> {
  const resolved = resolveOptions(options);
  const { progress, env, directory, port, root, requestedVersion } = resolved;
  const { signal } = options;
  if (port !== undefined) await assertPortFree(port);
  if (resolved.nodes === "real") await checkNodeRequirements();
  const binaries = await findBinaries(resolved.binaries, { kubernetes: requestedVersion, signal, progress, env });
  await removeAbandoned(root, signal);
  const record = recordOf(resolved);
  await claimName(directory, record, signal);
  return progress.during(`starting cluster ${directory.name}`, (onStart) =>
    startInDirectory({ options: resolved, record, binaries, onStart }, signal),
  );
}

interface Start {
  readonly options: ResolvedOptions;
  readonly record: ClusterRecord;
  readonly binaries: BinaryPaths;
  /** Called with the name of each component before it is started. */
  readonly onStart: (component: string) => void;
}

/** What was started. */
interface Parts {
  readonly components: readonly Component[];
  readonly sandbox?: Sandbox;
  readonly prometheus?: string | undefined;
  readonly auditLog?: string | undefined;
  readonly connection: Connection;
}

async function startInDirectory(start: Start, callerSignal: AbortSignal | undefined): Promise<Cluster> {
  const { directory, nodes } = start.options;
  const interrupt = new AbortController();
  const signal = callerSignal === undefined ? interrupt.signal : AbortSignal.any([interrupt.signal, callerSignal]);
  const down = async () => {
    interrupt.abort(new InterruptedError(directory.name));
    await cleanUp(directory);
  };
  using _listeners = stopOnExit({ directory, hasNode: nodes === "real", down });
  try {
    const parts = start.options.simulated?.controlPlane
      ? await startSimulatedCluster(start, signal)
      : await startComponents(start, signal);
    return await complete(start, parts, signal);
  } catch (error) {
    await cleanUp(directory, { keepLogs: !signal.aborted });
    throw signal.aborted ? signal.reason : error;
  }
}

async function startComponents({ options, binaries, onStart }: Start, signal: AbortSignal): Promise<Parts> {
  const { directory, controllers, admissionPlugins, port, progress, scrapeInterval } = options;
  const sandbox = options.nodes === "real" ? await startSandbox(directory, { progress, signal }) : undefined;
  const network = sandbox === undefined ? hostNetwork(port) : sandboxNetwork(sandbox, port);
  const auditLog = options.audit ? join(directory.logs, "audit.log") : undefined;
  const controlPlane = await startControlPlane({
    ...{ directory, network, binaries, controllers, auditLog, admissionPlugins, signal, onStart },
  });
  const connection = await connectTo(directory);
  const parts = { components: controlPlane.components, auditLog, connection };
  if (sandbox !== undefined) {
    onStart("node");
    const { api } = connection;
    const node = await startNode({ directory, sandbox, binaries, controlPlane, api, scrapeInterval, progress, signal });
    return { ...parts, sandbox, components: [...parts.components, ...node.components], prometheus: node.prometheus };
  }
  if (options.simulated !== undefined) {
    onStart("hollow nodes");
    const nodes = await startSimulator({ simulated: options.simulated, directory, scrapeInterval, signal });
    return { ...parts, components: [...parts.components, nodes.component], prometheus: nodes.prometheus };
  }
  return parts;
}

/** The simulator is the only component. */
async function startSimulatedCluster({ options, onStart }: Start, signal: AbortSignal): Promise<Parts> {
  const { simulated, directory, scrapeInterval, port } = options;
  if (simulated === undefined) throw new TypeError("internal error: the cluster is not simulated");
  onStart("simulator");
  const { component, prometheus } = await startSimulator({ simulated, directory, scrapeInterval, port, signal });
  return { components: [component], prometheus, connection: await connectTo(directory) };
}

async function complete({ options, record }: Start, parts: Parts, signal: AbortSignal): Promise<Cluster> {
  const { directory, env } = options;
  const { components, sandbox, prometheus, auditLog, connection } = parts;
  const completed: ClusterRecord = {
    ...record,
    components: components.map(({ name }) => name),
    kubernetes: connection.version,
    server: connection.api.server,
    ...(auditLog !== undefined && { auditLog }),
    ...(prometheus !== undefined && { prometheus }),
  };
  if (hasControllers(record)) await waitForDefaultServiceAccount(connection.api, "default", { logs: directory.logs, signal });
  await writeRecord(directory, completed);
  return new OwnedCluster({ directory, record: completed, components, sandbox, env }, connection);
}

function recordOf({ directory, kubernetes, requestedVersion, nodes, controllers, simulated }: ResolvedOptions): ClusterRecord {
  return {
    name: directory.name,
    kubernetes: kubernetes.patch,
    ...(requestedVersion !== undefined && { requestedVersion }),
    owner: thisProcess(),
    pidNamespace: pidNamespace(),
    createdAt: new Date().toISOString(),
    nodes,
    ...(simulated && { simulated: { controlPlane: simulated.controlPlane, nodes: simulated.nodes } }),
    controllers,
  };
}
