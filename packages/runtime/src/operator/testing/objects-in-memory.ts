// An in-memory object store for tests with a manual clock: names are unique, resourceVersions are compared, and a test can delay or
// fail any call. Tests in *.cluster.test.ts cover the rest of an API server's behavior.
import type { Client } from "../../client/client.ts";
import { AlreadyExistsError, type ApiError, ConflictError, NotFoundError, type Refusal } from "../../client/errors.ts";
import { type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../../objects/object.ts";

type Verb = "find" | "create" | "update" | "patch";

export interface Call {
  readonly verb: Verb;
  readonly kind: string;
  readonly key: string;
  readonly signal: AbortSignal | undefined;
}

/** Throws to fail a call, or returns a promise to delay it. */
export type CallHook = (call: Call) => void | Promise<void>;

export class ObjectsInMemory {
  readonly calls: Call[] = [];
  /** Called before a call takes effect. */
  before: CallHook = () => {};
  /** Called after a call took effect: throw to lose the response. */
  after: CallHook = () => {};
  readonly #objects = new Map<string, Stored<KubernetesObject>>();
  #version = 0;

  /** The client methods that the store implements. */
  get client(): Pick<Client, "find" | "create" | "update" | "patch"> {
    return {
      find: (kind, ref, o) => this.#call("find", kind, ref, o?.signal, () => this.read(kind, ref)),
      create: (kind, object, o) =>
        this.#call("create", kind, refOf(object), o?.signal, (key) => {
          if (this.#objects.has(key)) throw apiError(AlreadyExistsError, 409, "AlreadyExists", key);
          return this.#store(key, object as KubernetesObject);
        }),
      update: (kind, object, o) =>
        this.#call("update", kind, refOf(object), o?.signal, (key) => {
          const now = this.#objects.get(key);
          if (now === undefined) throw apiError(NotFoundError, 404, "NotFound", key);
          const version = (object as KubernetesObject).metadata?.resourceVersion;
          if (version !== undefined && version !== now.metadata.resourceVersion)
            throw apiError(ConflictError, 409, "Conflict", key);
          return this.#store(key, object as KubernetesObject);
        }),
      patch: (kind, ref, { body }, o) =>
        this.#call("patch", kind, ref, o?.signal, (key) => {
          const now = this.#objects.get(key);
          if (now === undefined) throw apiError(NotFoundError, 404, "NotFound", key);
          return this.#store(key, { ...now, ...body });
        }),
    } as Pick<Client, "find" | "create" | "update" | "patch">;
  }

  read<T extends KubernetesObject>(kind: Kind<T>, ref: ObjectRef): Stored<T> | undefined {
    return this.#objects.get(`${kind.plural} ${keyOf(ref)}`) as Stored<T> | undefined;
  }

  all<T extends KubernetesObject>(kind: Kind<T>): readonly Stored<T>[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${kind.plural} `)).map(([, object]) => object as Stored<T>);
  }

  delete(kind: Kind, ref: ObjectRef): void {
    this.#objects.delete(`${kind.plural} ${keyOf(ref)}`);
  }

  async #call<T>(
    verb: Verb,
    { plural }: Kind,
    ref: ObjectRef,
    signal: AbortSignal | undefined,
    act: (key: string) => T,
  ): Promise<T> {
    const call = { verb, kind: plural, key: keyOf(ref), signal };
    this.calls.push(call);
    await this.before(call);
    signal?.throwIfAborted();
    const answer = structuredClone(act(`${plural} ${keyOf(ref)}`));
    await this.after(call);
    return answer;
  }

  #store(key: string, object: KubernetesObject): Stored<KubernetesObject> {
    this.#version += 1;
    const uid = this.#objects.get(key)?.metadata.uid ?? `uid-${this.#version}`;
    const metadata = { ...object.metadata, name: refOf(object).name, uid, resourceVersion: `${this.#version}` };
    const stored = structuredClone({ ...object, metadata });
    this.#objects.set(key, stored);
    return stored;
  }
}

function apiError(ErrorClass: new (refusal: Refusal) => ApiError, status: number, reason: string, attempt: string): ApiError {
  return new ErrorClass({ attempt, status, reason, message: reason });
}
