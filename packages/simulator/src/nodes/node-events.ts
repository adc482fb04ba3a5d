// Events of a node about its pods, in the core/v1 form that kubelets write, counted when they repeat. They are written in the
// background, and failures are ignored. As in client-go, a pod may cause 25 events at once, then one every five minutes.
import {
  type Client,
  dynamicKind,
  type Environment,
  type KubernetesObject,
  type Logger,
  type Pod,
  type Stored,
} from "@memhog/runtime";
import { formatTime } from "@memhog/runtime/objects";
import type { NodeRemark } from "./pod-tools.ts";

interface CoreEvent extends KubernetesObject {
  readonly involvedObject: object;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string; readonly host: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}

const CoreEvent = dynamicKind<CoreEvent>({ group: "", version: "v1", kind: "Event", plural: "events", namespaced: true });

const component = "kubelet";
const burst = 25;
const refillMs = 300_000;

/** The events of one pod. */
interface Talk {
  /** By content: the name of its Event and its count. */
  readonly said: Map<string, { readonly name: string; count: number }>;
  left: number;
  since: number;
}

export interface NodeEventsOptions {
  readonly client: Pick<Client, "create" | "patch">;
  readonly environment: Environment;
  readonly log: Logger;
}

export class NodeEvents {
  readonly #options: NodeEventsOptions;
  readonly #talks = new Map<string, Talk>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: NodeEventsOptions) {
    this.#options = options;
  }

  record(pod: Stored<Pod>, host: string, remark: NodeRemark): void {
    const talk = this.#talkOf(pod.metadata.uid);
    if (!this.#mayTalk(talk)) return;
    const { type, reason, message, container } = remark;
    const key = JSON.stringify([container?.fieldPath, type, reason, message]);
    const known = talk.said.get(key);
    const { clock } = this.#options.environment;
    const now = formatTime(clock.now());
    if (known !== undefined) {
      known.count += 1;
      const { count, name } = known;
      this.#write(() => this.#patch({ namespace: pod.metadata.namespace ?? "", name }, { count, lastTimestamp: now }));
      return;
    }
    const name = `${pod.metadata.name}.${this.#options.environment.uuid().replaceAll("-", "").slice(0, 16)}`;
    talk.said.set(key, { name, count: 1 });
    this.#write(() => this.#options.client.create(CoreEvent, eventOf(pod, host, { remark, name, now })));
  }

  /** Forgets a deleted pod. */
  forget(uid: string): void {
    this.#talks.delete(uid);
  }

  /** Resolves when all recorded events are written or dropped. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #patch(ref: { readonly namespace: string; readonly name: string }, body: object): Promise<unknown> {
    return this.#options.client.patch(CoreEvent, ref, { type: "merge", body });
  }

  #write(write: () => Promise<unknown>): void {
    const { log } = this.#options;
    this.#writing = this.#writing.then(write).then(
      () => {},
      (err: unknown) => log.debug({ err }, "an event could not be written"),
    );
  }

  #talkOf(uid: string): Talk {
    const now = this.#options.environment.clock.monotonic();
    const talk = this.#talks.get(uid) ?? { said: new Map(), left: burst, since: now };
    this.#talks.set(uid, talk);
    return talk;
  }

  #mayTalk(talk: Talk): boolean {
    const now = this.#options.environment.clock.monotonic();
    talk.left = Math.min(burst, talk.left + (now - talk.since) / refillMs);
    talk.since = now;
    if (talk.left < 1) return false;
    talk.left -= 1;
    return true;
  }
}

interface Said {
  readonly remark: NodeRemark;
  readonly name: string;
  readonly now: string;
}

function eventOf(pod: Stored<Pod>, host: string, { remark, name, now }: Said): CoreEvent {
  const { type, reason, message, container } = remark;
  const { metadata } = pod;
  const namespace = metadata.namespace ?? "";
  const { uid, resourceVersion } = metadata;
  return {
    metadata: { namespace, name },
    involvedObject: {
      ...{ apiVersion: "v1", kind: "Pod", namespace, name: metadata.name, uid, resourceVersion },
      ...(container && { fieldPath: container.fieldPath }),
    },
    ...{ type, reason, message, count: 1, firstTimestamp: now, lastTimestamp: now },
    source: { component, host },
    reportingComponent: component,
    reportingInstance: host,
  };
}
