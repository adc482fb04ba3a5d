// For tests only: an API of a few objects in memory, whose watches misbehave on command. Faults of the wire (resets,
// truncated lines, silence) are tested against a real API server through a proxy; here are sequences that no proxy can
// produce on demand: events twice, events never, history lost between two given calls.

import type { Client, ListOptions, ObjectList, WatchEvent, WatchOptions } from "../client/client.ts";
import { ApiError, ExpiredError, ForbiddenError, InvalidError, NotFoundError } from "../client/errors.ts";
import { anySignal } from "../concurrency/abort.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";

interface Told {
  readonly version: number;
  readonly plural: string;
  readonly event: Extract<WatchEvent<KubernetesObject>, { object: unknown }>;
}

interface OpenWatch {
  readonly plural: string;
  readonly namespace: string | undefined;
  /** Nothing is told before this, as real servers have it: also if they are not there yet. */
  readonly from: number;
  push(event: WatchEvent<KubernetesObject>): void;
  end(error?: unknown): void;
}

/** The refusal that a status code stands for. */
export function refusal(status: number, reason = "Test"): ApiError {
  const what = { attempt: "test", status, reason, message: "scripted" };
  if (status === 403) return new ForbiddenError(what);
  if (status === 404) return new NotFoundError(what);
  if (status === 410) return new ExpiredError(what);
  return status === 422 ? new InvalidError(what) : new ApiError(what);
}

export class ScriptedApi implements Pick<Client, "list" | "watch"> {
  /** Whether lists can be streamed as events. */
  streams = true;
  /** What changes is told to no watch, now or later: of all kinds (true), or of these ("pods"). */
  muted: boolean | string = false;
  /** The versions before this one are forgotten: resuming from them is answered with 410. */
  historyFrom = 0;
  /** Answers a call with an error instead. */
  refuse: (call: string) => Error | undefined = () => undefined;
  /** What was asked: "stream pods", "list pods", "list pods metadata.name=a", "watch pods from 3", "compare pods" (a list of one). */
  readonly calls: string[] = [];
  /** The time limits that watches were opened with. */
  readonly timeouts: (number | undefined)[] = [];
  readonly #objects = new Map<string, Map<string, Stored<KubernetesObject>>>();
  readonly #told: Told[] = [];
  #watches: OpenWatch[] = [];
  #version = 0;

  get openWatches(): number {
    return this.#watches.length;
  }

  get version(): string {
    return `${this.#version}`;
  }

  /** Creates the object, or changes it. */
  put<T extends KubernetesObject>(kind: Kind<T>, object: T): Stored<T> {
    const objects = this.#of(kind);
    const key = keyOf(refOf(object));
    const before = objects.get(key);
    this.#version += 1;
    const uid = object.metadata?.uid ?? before?.metadata.uid ?? `uid-${this.#version}`;
    const metadata = { name: "", ...object.metadata, uid, resourceVersion: this.version };
    const stored = { ...object, metadata } as Stored<T>;
    objects.set(key, stored);
    this.#tell(kind, { type: before === undefined ? "ADDED" : "MODIFIED", object: stored });
    return stored;
  }

  remove(kind: Kind, ref: ObjectRef): void {
    const before = this.#of(kind).get(keyOf(ref));
    if (before === undefined) return;
    this.#of(kind).delete(keyOf(ref));
    this.#version += 1;
    const metadata = { ...before.metadata, resourceVersion: this.version };
    this.#tell(kind, { type: "DELETED", object: { ...before, metadata } });
  }

  get<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined {
    return this.#of(kind).get(keyOf(ref)) as Stored<T> | undefined;
  }

  /** Everything as it is now; calling the answer puts it back. */
  backUp(): () => void {
    const version = this.#version;
    const objects = [...this.#objects].map(([plural, each]) => [plural, new Map(each)] as const);
    return () => {
      this.#version = version;
      this.#objects.clear();
      for (const [plural, each] of objects) this.#objects.set(plural, each);
      this.#told.splice(0, this.#told.length, ...this.#told.filter((told) => told.version <= version));
    };
  }

  /** Says this to every open watch of the kind, true or not. */
  say(kind: Kind, event: WatchEvent<KubernetesObject>): void {
    for (const watch of this.#watches) if (watch.plural === kind.plural) watch.push(event);
  }

  bookmark(kind: Kind): void {
    this.say(kind, { type: "BOOKMARK", resourceVersion: this.version, initialEventsEnd: false });
  }

  /** Ends every open watch: as the server does in peace, or with an error. */
  cutWatches(error?: unknown): void {
    for (const watch of [...this.#watches]) watch.end(error);
  }

  async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { fieldSelector } = options;
    const verb = options.limit === 1 ? "compare" : "list";
    this.#called(`${verb} ${kind.plural}${fieldSelector === undefined ? "" : ` ${fieldSelector}`}`);
    const from = Number(options.continue ?? 0);
    const isMeant = (name: string) => fieldSelector === undefined || fieldSelector === `metadata.name=${name}`;
    const all = this.#visible(kind, options.namespace).filter(({ metadata }) => isMeant(metadata.name));
    const to = from + (options.limit ?? all.length);
    const metadata = { resourceVersion: this.version, ...(to < all.length && { continue: `${to}` }) };
    return { metadata, items: all.slice(from, to) as unknown as Stored<T>[] };
  }

  async *watch<T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions<T> = {}): AsyncGenerator<WatchEvent<T>, void> {
    const { resourceVersion, namespace, project = (object) => object } = options;
    this.#called(options.sendInitialEvents ? `stream ${kind.plural}` : `watch ${kind.plural} from ${resourceVersion}`);
    this.timeouts.push(options.timeoutSeconds);
    if (options.sendInitialEvents && !this.streams) throw refusal(422);
    if (resourceVersion !== undefined && Number(resourceVersion) < this.historyFrom) throw refusal(410);
    options.onOpen?.();
    using either = anySignal([options.signal]);
    const initial = options.sendInitialEvents
      ? this.#initial(kind, namespace)
      : this.#since(kind, namespace, Number(resourceVersion));
    for await (const event of this.#open({ kind, namespace, from: Number(resourceVersion ?? 0) }, initial, either.signal)) {
      yield event.type === "BOOKMARK" ? event : { type: event.type, object: project(event.object as Stored<T>) };
    }
  }

  #called(call: string): void {
    this.calls.push(call);
    const error = this.refuse(call);
    if (error !== undefined) throw error;
  }

  #of(kind: Kind): Map<string, Stored<KubernetesObject>> {
    const objects = this.#objects.get(kind.plural) ?? new Map();
    this.#objects.set(kind.plural, objects);
    return objects;
  }

  #visible(kind: Kind, namespace: string | undefined): Stored<KubernetesObject>[] {
    return [...this.#of(kind).values()].filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  }

  #initial(kind: Kind, namespace: string | undefined): WatchEvent<KubernetesObject>[] {
    const objects = this.#visible(kind, namespace).map((object) => ({ type: "ADDED", object }) as const);
    return [...objects, { type: "BOOKMARK", resourceVersion: this.version, initialEventsEnd: true }];
  }

  #since(kind: Kind, namespace: string | undefined, version: number): WatchEvent<KubernetesObject>[] {
    const missed = this.#told.filter((told) => told.plural === kind.plural && told.version > version);
    return missed
      .map(({ event }) => event)
      .filter(({ object }) => namespace === undefined || object.metadata.namespace === namespace);
  }

  #tell(kind: Kind, event: Told["event"]): void {
    if (this.muted === true || this.muted === kind.plural) return;
    this.#told.push({ version: this.#version, plural: kind.plural, event });
    for (const watch of this.#watches) {
      const seen = watch.namespace === undefined || watch.namespace === event.object.metadata.namespace;
      if (watch.plural === kind.plural && seen && this.#version > watch.from) watch.push(event);
    }
  }

  async *#open(
    { kind, namespace, from }: { kind: Kind; namespace: string | undefined; from: number },
    waiting: WatchEvent<KubernetesObject>[],
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<KubernetesObject>, void> {
    let ended: { readonly error?: unknown } | undefined;
    let wake = () => {};
    const end = (error?: unknown) => {
      ended ??= { error };
      wake();
    };
    const push = (event: WatchEvent<KubernetesObject>) => {
      if (ended === undefined) waiting.push(event);
      wake();
    };
    const watch: OpenWatch = { plural: kind.plural, namespace, from, push, end };
    this.#watches.push(watch);
    signal.addEventListener("abort", () => end(signal.reason), { once: true });
    try {
      while (ended === undefined || waiting.length > 0) {
        const event = waiting.shift();
        if (event !== undefined) yield event;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      if (ended.error !== undefined) throw ended.error;
    } finally {
      this.#watches = this.#watches.filter((other) => other !== watch);
    }
  }
}
