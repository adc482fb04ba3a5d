// For tests only: an in-memory API with a few objects and scripted watch faults. Network faults (resets, truncated lines, silence) are
// tested against a real API server through a proxy. This API produces what a proxy cannot: duplicate events, missing events, and
// history lost between two given requests.
import type { Client, ListOptions, ObjectList, ScanOptions, WatchEvent, WatchOptions } from "../client/client.ts";
import {
  ApiError,
  BrokenStreamError,
  ExpiredError,
  ForbiddenError,
  IdleWatchError,
  InvalidError,
  NotFoundError,
  TimeoutError,
} from "../client/errors.ts";
import { idleWatchdog } from "../client/watch.ts";
import { anySignal } from "../concurrency/abort.ts";
import { type Clock, silentLogger } from "../concurrency/environment.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";
import { Cache, type CacheOptions } from "./cache.ts";

interface Told {
  readonly version: number;
  readonly plural: string;
  readonly event: Extract<WatchEvent<KubernetesObject>, { object: unknown }>;
}

interface OpenWatch {
  readonly plural: string;
  readonly namespace: string | undefined;
  /** Sends no event before this version, even if the server has not reached it yet, as real servers do. */
  readonly from: number;
  push(event: WatchEvent<KubernetesObject>): void;
  end(error?: unknown): void;
}

/** The API error of a status code. */
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
  /** Watches never receive changes of all kinds (true), or of these ("pods"). */
  muted: boolean | string = false;
  /** Resuming from an older version fails with 410 Gone. */
  historyFrom = 0;
  /** Makes a request fail with an error. */
  refuse: (call: string) => Error | undefined = () => undefined;
  /** The requests so far: "stream pods", "list pods", "list pods metadata.name=a", "watch pods from 3", "compare pods" (a list of one). */
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

  /** Takes a backup. Call the returned function to restore it. */
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

  /** Sends this event to every open watch of the kind, without changing any object. */
  say(kind: Kind, event: WatchEvent<KubernetesObject>): void {
    for (const watch of this.#watches) if (watch.plural === kind.plural) watch.push(event);
  }

  bookmark(kind: Kind): void {
    this.say(kind, { type: "BOOKMARK", resourceVersion: this.version, initialEventsEnd: false });
  }

  /** Ends every open watch, normally or with an error. */
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

// A connection to a scripted API with faults that raise no error: requests or responses disappear. The client's timeouts run on a
// manual clock, so that hours pass in a moment.

/** "half-open": nothing passes, in either direction. "silent": watches are accepted, but no event arrives. */
type Fault = "none" | "half-open" | "silent";

interface Line {
  dead: boolean;
}

export class FaultyConnection implements Pick<Client, "list" | "watch" | "scan"> {
  /** Cuts a watch that was idle for this long, as load balancers do. */
  cutsIdleAfterMs = Number.POSITIVE_INFINITY;
  /** The number of requests, including those without a response. */
  asked = 0;
  readonly #api: ScriptedApi;
  readonly #clock: Clock;
  readonly #lines = new Set<Line>();
  #fault: Fault = "none";

  constructor(api: ScriptedApi, clock: Clock) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Broken connections stay broken: only new requests work after the fault has ended. */
  set fault(fault: Fault) {
    this.#fault = fault;
    if (fault === "half-open") for (const line of this.#lines) line.dead = true;
  }

  async list<T extends KubernetesObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    this.asked += 1;
    if (this.#fault === "half-open") await this.#unanswered(options);
    return this.#api.list(kind, options);
  }

  async scan<T extends KubernetesObject>(kind: Kind<T>, take: (object: Stored<T>) => void, options: ScanOptions<T> = {}) {
    const { namespace, timeoutMs, signal, project = (object) => object } = options;
    const { items, metadata } = await this.list(kind, { namespace, timeoutMs, signal });
    for (const object of items) take(project(object));
    return metadata;
  }

  async *watch<T extends KubernetesObject>(kind: Kind<T>, options: WatchOptions<T> = {}): AsyncGenerator<WatchEvent<T>, void> {
    this.asked += 1;
    if (this.#fault === "half-open") await this.#unanswered(options);
    const line: Line = { dead: this.#fault === "silent" };
    this.#lines.add(line);
    using idle = idleWatchdog(this.#clock, options.idleMs ?? 120_000, "watch");
    using balancer = idleWatchdog(this.#clock, this.cutsIdleAfterMs, "watch");
    const polite = new AbortController();
    const cancel = this.#clock.after((options.timeoutSeconds ?? 300) * 1_000, () => line.dead || polite.abort());
    using signal = anySignal([options.signal, idle.signal, balancer.signal, polite.signal]);
    try {
      for await (const event of this.#api.watch(kind, { ...options, signal: signal.signal })) {
        if (line.dead) continue;
        for (const watchdog of [idle, balancer]) watchdog.listen();
        yield event;
      }
    } catch (error) {
      if (polite.signal.aborted) return;
      if (idle.signal.aborted) throw new IdleWatchError("nothing came");
      throw balancer.signal.aborted ? new BrokenStreamError("cut by the load balancer") : error;
    } finally {
      cancel();
      this.#lines.delete(line);
    }
  }

  async #unanswered({ timeoutMs = 30_000, signal }: Pick<ListOptions, "timeoutMs" | "signal">): Promise<never> {
    await this.#clock.sleep(timeoutMs, signal);
    throw new TimeoutError("no answer", { outcome: "unknown" });
  }
}

export const ref = (name: string, namespace = "home") => ({ namespace, name });
export const config = (name: string, data: Record<string, string> = {}, namespace = "home"): ConfigMap => ({
  metadata: ref(name, namespace),
  data,
});

/** A started cache of ConfigMaps on a manual clock, and its scripted API. */
export function following(more: Partial<CacheOptions<ConfigMap>> = {}) {
  const api = new ScriptedApi();
  const environment = manualEnvironment();
  const cache = new Cache<ConfigMap>({
    client: api,
    kind: ConfigMap,
    namespaces: "all",
    environment,
    log: silentLogger,
    ...more,
  });
  const changes: string[] = [];
  cache.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
  const names = () => [...cache.objects()].map(({ metadata }) => metadata.name).sort();
  const { clock } = environment;
  const start = async () => {
    cache.start();
    await clock.advance(0);
  };
  return { api, cache, changes, names, clock, start, [Symbol.asyncDispose]: () => cache.stop() };
}
