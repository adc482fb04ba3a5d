// A client restricted to the declared permissions. A call without a grant does not compile; if it bypasses the compiler, it
// throws AccessNotDeclaredError with the line to add, and nothing is sent. So a missing permission shows up in development,
// where the user is usually cluster admin, and not as a 403 in production.
import type {
  Answered,
  Applied,
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  ObjectList,
  Patch,
  ReadOptions,
  Spoken,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../client/client.ts";
import type { Kind, KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import { AccessNotDeclaredError } from "./errors.ts";
import { type Grant, type Granted, resourceName, type Verb } from "./permissions.ts";

/** The compiler error for a missing permission. */
interface AccessNotDeclared<V extends Verb> {
  readonly "add allow(Kind, verb) to the controller": V;
}

/** The kind if the grants include the permission; otherwise a type that no value has. */
type Allowed<G extends readonly Grant[], T extends KubernetesObject, V extends Verb, S extends Sub = undefined> = Kind<T> &
  (Granted<G, T, V, S> extends true ? unknown : AccessNotDeclared<V>);

type Some = KubernetesObject;
type Sub = string | undefined;

/** The methods of Client, each only for kinds whose grants allow it. */
export interface RestrictedClient<G extends readonly Grant[]> {
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
  /** Requires "patch", and "create" if the object may not exist yet. */
  apply<T extends Some, S extends Sub = undefined>(
    kind: Allowed<G, T, "patch", S>,
    object: Applied<Spoken<T, S>> | Spoken<T, S>,
    o: ApplyOptions<S>,
  ): Promise<Answered<T, S>>;
  delete<T extends Some>(kind: Allowed<G, T, "delete">, ref: ObjectRef, o?: DeleteOptions): Promise<Stored<T> | undefined>;
  /** Discovery requires no permission. */
  readonly discovery: Client["discovery"];
}

/** The methods of Client that grants restrict. */
export type GrantedClient = Omit<Client, "request" | "close" | "scan" | "follow" | typeof Symbol.asyncDispose>;

/** Restricts a client to the grants, with types that allow only granted calls. */
export function restrict<const G extends readonly Grant[]>(client: Client, grants: G): RestrictedClient<G> {
  return grantedClient(client, grants) as RestrictedClient<G>;
}

/** Restricts a client to the grants, at run time only. */
export function grantedClient(client: GrantedClient, grants: readonly Grant[]): GrantedClient {
  const check = accessCheck(grants);
  return {
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
}

/** @throws AccessNotDeclaredError for a call without a grant */
function accessCheck(grants: readonly Grant[]) {
  const keyOf = (kind: Kind, subresource: Sub, verb: Verb) => `${verb} ${kind.group}/${resourceName({ kind, subresource })}`;
  const granted = Map.groupBy(
    grants.flatMap((grant) =>
      grant.verbs.map((verb) => ({ key: keyOf(grant.kind, grant.subresource, verb), names: grant.names })),
    ),
    ({ key }) => key,
  );
  return (verb: Verb, kind: Kind, subresource?: Sub, name?: string): void => {
    const matching = granted.get(keyOf(kind, subresource, verb)) ?? [];
    if (matching.some(({ names }) => names === undefined || (name !== undefined && names.includes(name)))) return;
    const line = `allow(${kind.kind}, "${verb}"${subresource === undefined ? "" : `, { subresource: "${subresource}" }`})`;
    const limited = matching.length > 0 ? ` for the name ${name ?? "(none)"}` : "";
    throw new AccessNotDeclaredError(
      `${verb} ${resourceName({ kind, subresource })}: expected a declared permission, found none${limited} → add ${line}`,
    );
  };
}
