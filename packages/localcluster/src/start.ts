// Starts a cluster: plan, binaries, directory, control plane, and a node if one is asked for. Whatever goes wrong on the way,
// and whenever the caller loses interest, everything that was started goes again; only the logs of a failed start stay, until
// the next one, because the error refers to them.
import { join } from "node:path";
import { connectTo } from "./access.ts";
import { untilPodsMayBeMade } from "./api/namespace.ts";
import { type BinaryName, findBinaries } from "./binaries/binaries.ts";
import { type Cluster, OwnedCluster } from "./cluster.ts";
import { startControlPlane } from "./control-plane/control-plane.ts";
import { hostGround, sandboxGround } from "./control-plane/ground.ts";
import { InterruptedError } from "./errors.ts";
import { checkNodeIsPossible } from "./node/requirements.ts";
import { startSandbox } from "./node/sandbox.ts";
import { type Plan, planOf, type StartOptions } from "./options.ts";
import { mustBeFree } from "./process/ports.ts";
import { type Companion, startCompanion } from "./simulated.ts";
import { startNodeOf } from "./start-node.ts";
import { claim, reapAbandoned } from "./state/claim.ts";
import { tieToThisProcess } from "./state/owner.ts";
import { reap } from "./state/reap.ts";
import { type ClusterRecord, hasControllers, pidNamespace, thisProcess, writeRecord } from "./state/record.ts";

/**
 * A real Kubernetes on this machine, ready to be used. It ends with the `await using` that holds it, and at the latest with
 * this process.
 *
 *     await using cluster = await startCluster();
 *     await cluster.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "greeting" }, data: { hello: "world" } });
 */
export async function startCluster(options: StartOptions = {}): Promise<Cluster> {
  const plan = planOf(options);
  if (plan.port !== undefined) await mustBeFree(plan.port);
  if (plan.nodes === "real") await checkNodeIsPossible();
  const { progress, env, directory } = plan;
  const binaries = await findBinaries(plan.binaries, { kubernetes: plan.askedFor, signal: options.signal, progress, env });
  await reapAbandoned(plan.root, options.signal);
  const record = recordOf(plan);
  await claim(directory, record, options.signal);
  return progress.during(`starting cluster ${directory.name}`, (announce) =>
    startClaimed({ plan, record, binaries, announce }, options.signal),
  );
}

interface Claimed {
  readonly plan: Plan;
  readonly record: ClusterRecord;
  readonly binaries: Readonly<Partial<Record<BinaryName, string>>>;
  /** Hears what is being started. */
  readonly announce: (component: string) => void;
}

async function startClaimed(claimed: Claimed, asked: AbortSignal | undefined): Promise<Cluster> {
  const { directory, nodes } = claimed.plan;
  const giveUp = new AbortController();
  const signal = asked === undefined ? giveUp.signal : AbortSignal.any([giveUp.signal, asked]);
  const interrupted = async () => {
    giveUp.abort(new InterruptedError(directory.name));
    await reap(directory);
  };
  using _tie = tieToThisProcess({ directory, hasNode: nodes === "real", down: interrupted });
  try {
    return await bringUp(claimed, signal);
  } catch (error) {
    await reap(directory, { keepLogs: !signal.aborted });
    throw signal.aborted ? signal.reason : error;
  }
}

async function bringUp(claimed: Claimed, signal: AbortSignal): Promise<Cluster> {
  const { plan, record, binaries, announce } = claimed;
  if (plan.simulated?.whole) return bringUpSimulated(claimed, signal);
  const { directory, controllers, admissionPlugins, port, progress } = plan;
  const sandbox = plan.nodes === "real" ? await startSandbox(directory, { progress, signal }) : undefined;
  const ground = sandbox === undefined ? hostGround(port) : sandboxGround(sandbox, port);
  const auditLog = plan.audit ? join(directory.logs, "audit.log") : undefined;
  const serving = { directory, ground, binaries, controllers, auditLog, admissionPlugins };
  const controlPlane = await startControlPlane({ ...serving, signal, announce });
  const connected = await connectTo(directory);
  if (sandbox !== undefined) announce("node");
  const node = sandbox && (await startNodeOf({ plan, binaries, sandbox, controlPlane, api: connected.api, signal }));
  const hollow = await companionOf(claimed, signal);
  const components = [...controlPlane.components, ...(node?.components ?? []), ...(hollow ? [hollow.component] : [])];
  const prometheus = node?.prometheus ?? hollow?.prometheus;
  const complete: ClusterRecord = {
    ...record,
    components: components.map(({ name }) => name),
    kubernetes: connected.version,
    server: connected.api.server,
    ...(auditLog && { auditLog }),
    ...(prometheus !== undefined && { prometheus }),
  };
  if (hasControllers(record)) await untilPodsMayBeMade(connected.api, "default", { logs: directory.logs, signal });
  await writeRecord(directory, complete);
  return new OwnedCluster({ directory, record: complete, components, sandbox, env: plan.env }, connected);
}

async function companionOf({ plan, announce }: Claimed, signal: AbortSignal): Promise<Companion | undefined> {
  const { simulated, directory, scrapeInterval, port } = plan;
  if (simulated === undefined) return undefined;
  announce(simulated.whole ? "simulator" : "hollow nodes");
  return startCompanion({ plan: simulated, directory, scrapeInterval, port, signal });
}

/** One process is all of it. */
async function bringUpSimulated(claimed: Claimed, signal: AbortSignal): Promise<Cluster> {
  const { directory, env } = claimed.plan;
  const companion = await companionOf(claimed, signal);
  const components = companion === undefined ? [] : [companion.component];
  const connected = await connectTo(directory);
  const record: ClusterRecord = {
    ...claimed.record,
    components: components.map(({ name }) => name),
    kubernetes: connected.version,
    server: connected.api.server,
    ...(companion?.prometheus && { prometheus: companion.prometheus }),
  };
  await untilPodsMayBeMade(connected.api, "default", { logs: directory.logs, signal });
  await writeRecord(directory, record);
  return new OwnedCluster({ directory, record, components, sandbox: undefined, env }, connected);
}

function recordOf({ directory, kubernetes, askedFor, nodes, controllers, simulated }: Plan): ClusterRecord {
  return {
    name: directory.name,
    kubernetes: kubernetes.patch,
    ...(askedFor !== undefined && { askedFor }),
    owner: thisProcess(),
    pidNamespace: pidNamespace(),
    createdAt: new Date().toISOString(),
    nodes,
    ...(simulated && { simulated: { whole: simulated.whole, nodes: simulated.nodes } }),
    controllers,
  };
}
