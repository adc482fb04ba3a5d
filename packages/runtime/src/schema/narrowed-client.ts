// A client that can do what was declared and nothing else. A call without a grant does not compile; one that was smuggled
// past the compiler throws AccessNotDeclaredError before anything is sent, with the line to add. Either way the mistake is
// found on the author's machine, where everyone is an administrator, and not as a 403 in somebody's cluster.
import type {
  Applied,
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../client/client.ts";
import type { Answered, Spoken } from "../client/subresource.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import { type Grant, type Granted, resourceName, type Verb } from "./access.ts";
import { AccessNotDeclaredError } from "./errors.ts";

/** What the compiler shows where a right is missing; nothing fits it. */
interface AccessNotDeclared<V extends Verb> {
  readonly "add may(Kind, verb) to the controller": V;
}

/** A kind, if the grants give the right; otherwise a type that nothing fits. */
type Allowed<G extends readonly Grant[], T extends KubernetesObject, V extends Verb, S extends Sub = undefined> = Kind<T> &
  (Granted<G, T, V, S> extends true ? unknown : AccessNotDeclared<V>);

type Some = KubernetesObject;
type Sub = string | undefined;

/** The methods of Client, each only for kinds whose grants allow it. */
export interface NarrowedClient<G extends readonly Grant[]> {
  get<T extends Some, S extends Sub = undefined>(
    kind: Allowed<G, T, "get", S>,
    ref: ObjectRef,
    o?: ReadOptions<S>,
  ): Promise<Answered<T, S>>;
  find<T extends Some>(kind: Allowed<G, T, "get">, ref: ObjectRef, o?: ReadOptions): Promise<Stored<T> | undefined>;
  list<T extends Some>(kind: Allowed<G, T, "list">, o?: ListOptions): Promise<ObjectList<T>>;
  listAll<T extends Some>(kind: Allowed<G, T, "list">, o?: ListOptions): AsyncIterable<Stored<T>>;
  watch<T extends Some>(kind: Allowed<G, T, "watch">, o?: WatchOptions<T>): AsyncIterable<WatchEvent<T>>;
  create<T extends Some, S extends Sub = undefined>(
    kind: Allowed<G, T, "create", S>,
    object: Spoken<T, S>,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  update<T extends Some, S extends Sub = undefined>(
    kind: Allowed<G, T, "update", S>,
    object: Spoken<T, S>,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  patch<T extends Some, S extends Sub = undefined>(
    kind: Allowed<G, T, "patch", S>,
    ref: ObjectRef,
    patch: Patch,
    o?: WriteOptions<S>,
  ): Promise<Answered<T, S>>;
  /** Needs "patch"; where the object may not exist yet, "create" too. */
  apply<T extends Some, S extends Sub = undefined>(
    kind: Allowed<G, T, "patch", S>,
    object: Applied<Spoken<T, S>> | Spoken<T, S>,
    o: ApplyOptions<S>,
  ): Promise<Answered<T, S>>;
  delete<T extends Some>(kind: Allowed<G, T, "delete">, ref: ObjectRef, o?: DeleteOptions): Promise<Stored<T> | undefined>;
  /** What the server serves may be asked by everyone. */
  readonly discovery: Client["discovery"];
}

/** The client, limited to the grants. */
export function narrow<const G extends readonly Grant[]>(client: Client, grants: G): NarrowedClient<G> {
  const check = accessCheck(grants);
  const narrowed: Omit<Client, "request" | "close" | typeof Symbol.asyncDispose> = {
    async get(kind, ref, o) {
      check("get", kind, o?.subresource, ref.name);
      return client.get(kind, ref, o);
    },
    async find(kind, ref, o) {
      check("get", kind, o?.subresource, ref.name);
      return client.find(kind, ref, o);
    },
    async list(kind, o) {
      check("list", kind);
      return client.list(kind, o);
    },
    listAll(kind, o) {
      check("list", kind);
      return client.listAll(kind, o);
    },
    watch(kind, o) {
      check("watch", kind);
      return client.watch(kind, o);
    },
    async create(kind, object, o) {
      check("create", kind, o?.subresource, object.metadata?.name);
      return client.create(kind, object, o);
    },
    async update(kind, object, o) {
      check("update", kind, o?.subresource, object.metadata?.name);
      return client.update(kind, object, o);
    },
    async patch(kind, ref, patch, o) {
      check("patch", kind, o?.subresource, ref.name);
      return client.patch(kind, ref, patch, o);
    },
    async apply(kind, object, o) {
      check("patch", kind, o.subresource, (object as KubernetesObject).metadata?.name);
      return client.apply(kind, object, o);
    },
    async delete(kind, ref, o) {
      check("delete", kind, undefined, ref.name);
      return client.delete(kind, ref, o);
    },
    discovery: client.discovery,
  };
  return narrowed as NarrowedClient<G>;
}

/** Throws for what no grant allows. */
function accessCheck(grants: readonly Grant[]) {
  const keyOf = (kind: Kind, subresource: Sub, verb: Verb) => `${verb} ${kind.group}/${resourceName({ kind, subresource })}`;
  const granted = Map.groupBy(
    grants.flatMap((grant) =>
      grant.verbs.map((verb) => ({ key: keyOf(grant.kind, grant.subresource, verb), names: grant.names })),
    ),
    ({ key }) => key,
  );
  return (verb: Verb, kind: Kind, subresource?: Sub, name?: string): void => {
    const rights = granted.get(keyOf(kind, subresource, verb)) ?? [];
    if (rights.some(({ names }) => names === undefined || (name !== undefined && names.includes(name)))) return;
    const line = `may(${kind.kind}, "${verb}"${subresource === undefined ? "" : `, { subresource: "${subresource}" }`})`;
    const limited = rights.length > 0 ? ` for the name ${name ?? "(none)"}` : "";
    throw new AccessNotDeclaredError(
      `${verb} ${resourceName({ kind, subresource })}: expected it among the declared rights, found none${limited}; add ${line}`,
    );
  };
}
