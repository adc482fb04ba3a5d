// For tests only: a complete client over the scripted API (cache/scripted-api.fixture.ts), to drive controllers on a manual
// clock through sequences that no real server produces on demand. Writes are only approximated (apply is a deep merge); tests
// of the server's behavior run against a real API server.
import { ScriptedApi } from "../cache/scripted-api.fixture.ts";
import type { Client, DeleteOptions } from "../client/client.ts";
import { AlreadyExistsError, ConflictError, NotFoundError, TransportError } from "../client/errors.ts";
import { equals, isRecord } from "../objects/diff.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";

export class ScriptedWorld {
  readonly api = new ScriptedApi();
  /** The writes: "apply ConfigMap home/a". */
  readonly writes: string[] = [];
  /** Fails a write: throws before it happens, or returns a function that throws after it. */
  spoil: (write: string) => (() => never) | undefined = () => undefined;

  readonly client = {
    list: (kind: Kind, o: object) => this.api.list(kind, o),
    watch: (kind: Kind, o: object) => this.api.watch(kind, o),
    find: async (kind: Kind, ref: ObjectRef) => this.#read(kind, ref),
    get: async (kind: Kind, ref: ObjectRef) => this.#read(kind, ref) ?? this.#missing(ref),
    create: async (kind: Kind, object: KubernetesObject, o?: { readonly dryRun?: boolean }) =>
      this.#write(o?.dryRun ? "try" : "create", kind, refOf(object), () => {
        if (this.api.get(kind, refOf(object))) throw new AlreadyExistsError({ ...said, status: 409 });
        return o?.dryRun ? object : this.api.put(kind, object);
      }),
    apply: async (kind: Kind, object: KubernetesObject, o?: { readonly subresource?: string }) =>
      this.#write(o?.subresource ? `apply ${o.subresource} of` : "apply", kind, refOf(object), () => {
        const before = this.api.get(kind, refOf(object));
        if (o?.subresource && !before) this.#missing(refOf(object));
        this.#expect(object.metadata?.uid, before?.metadata.uid);
        return this.#merge(kind, refOf(object), object);
      }),
    patch: async (kind: Kind, ref: ObjectRef, { body }: { readonly body: KubernetesObject }) =>
      this.#write("patch", kind, ref, () => {
        const before = this.api.get(kind, ref) ?? this.#missing(ref);
        this.#expect(body.metadata?.resourceVersion, before.metadata.resourceVersion);
        return this.#merge(kind, ref, body);
      }),
    delete: async (kind: Kind, ref: ObjectRef, o: DeleteOptions = {}) =>
      this.#write("delete", kind, ref, () => {
        const before = this.api.get(kind, ref);
        if (before === undefined) return o.ignoreNotFound ? undefined : this.#missing(ref);
        this.#expect(o.uid, before.metadata.uid);
        this.#expect(o.resourceVersion, before.metadata.resourceVersion);
        this.api.remove(kind, ref);
        return undefined;
      }),
  } as unknown as Client;

  #read(kind: Kind, ref: ObjectRef): Stored<KubernetesObject> | undefined {
    this.api.calls.push(`get ${kind.plural} ${keyOf(ref)}`);
    return this.api.get(kind, ref);
  }

  #missing(ref: ObjectRef): never {
    throw new NotFoundError({ ...said, status: 404, details: { name: ref.name } });
  }

  #expect(required: string | undefined, actual: string | undefined): void {
    if (required !== undefined && required !== actual) throw new ConflictError({ ...said, status: 409 });
  }

  #write<R>(verb: string, kind: Kind, ref: ObjectRef, write: () => R): R {
    const what = `${verb} ${kind.kind} ${keyOf(ref)}`;
    this.writes.push(what);
    const afterwards = this.spoil(what);
    const answer = write();
    afterwards?.();
    return answer;
  }

  #merge(kind: Kind, ref: ObjectRef, body: KubernetesObject): Stored<KubernetesObject> {
    const before = this.api.get(kind, ref);
    const after = merged(before ?? {}, body) as KubernetesObject;
    return before !== undefined && equals(before, after) ? before : this.api.put(kind, after);
  }
}

/** The response is lost; the write may have happened. */
export function loseAnswer(): never {
  throw new TransportError("scripted: the answer is lost", { outcome: "unknown" });
}

const said = { attempt: "scripted", reason: "", message: "no" };

function merged(into: unknown, from: unknown): unknown {
  if (!isRecord(into) || !isRecord(from)) return from;
  const keys = Object.keys({ ...into, ...from });
  return Object.fromEntries(keys.map((key) => [key, key in from ? merged(into[key], from[key]) : into[key]]));
}
