// Registers a node, renews its Lease every ten seconds and repeats its status every five minutes. If the API server cannot be
// reached, the next heartbeat tries again.
import {
  AlreadyExistsError,
  type Client,
  ConflictError,
  type Environment,
  type Logger,
  Node,
  NotFoundError,
  type Stored,
} from "@memhog/runtime";
import { Lease } from "@memhog/runtime/kinds";
import { formatMicroTime, formatTime, setCondition } from "@memhog/runtime/objects";
import { type NodeIdentity, nodeObject, nodeStatus, type ResolvedNode } from "./node-spec.ts";

export interface HeartbeatOptions {
  readonly client: Client;
  readonly environment: Environment;
  readonly log: Logger;
  readonly node: ResolvedNode;
  /** Milliseconds between two renewals of the Lease. @default 10 s, as the kubelet */
  readonly leaseRenewMs: number;
}

const leaseNamespace = "kube-node-lease";
const leaseDurationSeconds = 40;
const reportMs = 300_000;

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #machineId: string;
  #identity: NodeIdentity;
  #registered: Stored<Node> | undefined;
  #lease: Stored<Lease> | undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #stop: AbortController | undefined;
  #beating: Promise<void> = Promise.resolve();

  constructor(options: HeartbeatOptions) {
    const { environment } = options;
    this.#options = options;
    this.#machineId = environment.uuid().replaceAll("-", "");
    this.#identity = this.#boot();
  }

  get isBeating(): boolean {
    return this.#stop !== undefined;
  }

  /** Starts the heartbeat. Resolves when the node is registered or the first attempt has failed. */
  async start(): Promise<void> {
    if (this.#stop !== undefined) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#identity = this.#boot();
    this.#reportedAt = Number.NEGATIVE_INFINITY;
    await this.#beat(stop.signal);
    this.#beating = this.#goOn(stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = undefined;
    await this.#beating;
  }

  /** Sets a new boot ID. The machine ID stays the same. */
  #boot(): NodeIdentity {
    return { bootId: this.#options.environment.uuid(), machineId: this.#machineId };
  }

  async #goOn(signal: AbortSignal): Promise<void> {
    const { environment, leaseRenewMs } = this.#options;
    while (!signal.aborted) {
      await environment.clock.sleep(leaseRenewMs, signal).catch(() => {}); // stopped: the loop checks the signal
      if (!signal.aborted) await this.#beat(signal);
    }
  }

  async #beat(signal: AbortSignal): Promise<void> {
    const { log, node } = this.#options;
    try {
      this.#registered ??= await this.#register(signal);
      await this.#report(signal);
      this.#lease = await this.#renew(this.#registered, signal);
    } catch (err) {
      if (!signal.aborted) log.warn({ err, node: node.name }, "a heartbeat did not get through; the next one may");
      this.#lease = undefined; // on any error, read the Lease again
    }
  }

  async #register(signal: AbortSignal): Promise<Stored<Node>> {
    const { client, node, environment } = this.#options;
    const object = nodeObject(node, this.#identity, formatTime(environment.clock.now()));
    try {
      return await client.create(Node, object, { signal });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
      return client.get(Node, { name: node.name }, { signal });
    }
  }

  /** The whole Node, written at registration and every five minutes. */
  async #report(signal: AbortSignal): Promise<void> {
    const { client, node, environment } = this.#options;
    const { clock } = environment;
    if (clock.monotonic() - this.#reportedAt < reportMs) return;
    const now = formatTime(clock.now());
    const status = nodeStatus(node, this.#identity, now);
    const before = this.#registered?.status?.conditions;
    const conditions = status.conditions?.map((condition) => {
      const all = setCondition(before, condition, clock.now());
      const { lastTransitionTime = now } = all.find(({ type }) => type === condition.type) ?? {};
      return { ...condition, lastTransitionTime };
    });
    const patch = { type: "strategic", body: { status: { ...status, conditions } } } as const;
    try {
      this.#registered = await client.patch(Node, { name: node.name }, patch, { subresource: "status", signal });
    } catch (error) {
      if (error instanceof NotFoundError) this.#registered = undefined; // deleted by another client: register again
      throw error;
    }
    this.#reportedAt = clock.monotonic();
  }

  async #renew(owner: Stored<Node>, signal: AbortSignal): Promise<Stored<Lease>> {
    const { client, environment } = this.#options;
    const { name, uid } = owner.metadata;
    const spec = { holderIdentity: name, leaseDurationSeconds, renewTime: formatMicroTime(environment.clock.now()) };
    const ref = { namespace: leaseNamespace, name };
    const known = this.#lease ?? (await client.find(Lease, ref, { signal }));
    const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }];
    if (known === undefined) return client.create(Lease, { metadata: { ...ref, ownerReferences }, spec }, { signal });
    try {
      return await client.update(Lease, { ...known, spec: { ...known.spec, ...spec } }, { signal });
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      const fresh = await client.get(Lease, ref, { signal });
      return client.update(Lease, { ...fresh, spec: { ...fresh.spec, ...spec } }, { signal });
    }
  }
}
