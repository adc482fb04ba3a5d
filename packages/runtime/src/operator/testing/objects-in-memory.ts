// An API server's bookkeeping in forty lines, for tests with a manual clock: names are unique, versions are compared, and
// a test can make any call fail or wait. What a real API server does beyond that is looked at in *.cluster.test.ts.
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

/** Runs before each call takes effect: throw to refuse it, return a promise to delay it. */
export type Interference = (call: Call) => void | Promise<void>;

export class ObjectsInMemory {
  readonly calls: Call[] = [];
  /** Before a call takes effect. */
  before: Interference = () => {};
  /** After it took effect, before the answer: throw, and the answer is lost. */
  after: Interference = () => {};
  readonly #objects = new Map<string, Stored<KubernetesObject>>();
  #version = 0;

  /** The part of a client that these objects can play. */
  get client(): Pick<Client, "find" | "create" | "update" | "patch"> {
    return {
      find: (kind, ref, o) => this.#call("find", kind, ref, o?.signal, () => this.read(kind, ref)),
      create: (kind, object, o) =>
        this.#call("create", kind, refOf(object), o?.signal, (key) => {
          if (this.#objects.has(key)) throw refused(AlreadyExistsError, 409, "AlreadyExists", key);
          return this.#store(key, object as KubernetesObject);
        }),
      update: (kind, object, o) =>
        this.#call("update", kind, refOf(object), o?.signal, (key) => {
          const now = this.#objects.get(key);
          if (now === undefined) throw refused(NotFoundError, 404, "NotFound", key);
          const version = (object as KubernetesObject).metadata?.resourceVersion;
          if (version !== undefined && version !== now.metadata.resourceVersion)
            throw refused(ConflictError, 409, "Conflict", key);
          return this.#store(key, object as KubernetesObject);
        }),
      patch: (kind, ref, { body }, o) =>
        this.#call("patch", kind, ref, o?.signal, (key) => {
          const now = this.#objects.get(key);
          if (now === undefined) throw refused(NotFoundError, 404, "NotFound", key);
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

function refused(Refused: new (refusal: Refusal) => ApiError, status: number, reason: string, attempt: string): ApiError {
  return new Refused({ attempt, status, reason, message: reason });
}
