// The verbs that change nothing: get, find, list and listAll.
import { apiVersionOf, type Kind, type KubernetesObject, keyOf, type ObjectRef, refOf, type Stored } from "../objects/object.ts";
import { isList, objectIn } from "./answer.ts";
import type { Caller } from "./call.ts";
import type { ListOptions, ObjectList, ReadOptions } from "./client.ts";
import { AnswerError, ExpiredError, NotFoundError } from "./errors.ts";
import { collectionPath, objectPath } from "./path.ts";

/** Large enough to need few round trips; small enough that parsing a page of pods (1.7 MB) takes some 20 ms, not 60. */
const pageSize = 200;

export async function getObject(caller: Caller, kind: Kind, ref: ObjectRef, options: ReadOptions<string | undefined> = {}) {
  const { subresource } = options;
  const attempt = `get ${kind.kind}${subresource === undefined ? "" : `/${subresource}`} ${keyOf(ref)}`;
  const path = objectPath(kind, ref, subresource);
  return objectIn(attempt, await caller.text({ attempt, request: { method: "GET", path }, options }));
}

export async function findObject(caller: Caller, kind: Kind, ref: ObjectRef, options: ReadOptions = {}) {
  try {
    return await getObject(caller, kind, ref, options);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

export async function listPage<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions = {},
): Promise<ObjectList<T>> {
  const { namespace, labelSelector, fieldSelector, limit } = options;
  const attempt = `list ${kind.kind}${namespace === undefined ? "" : ` in ${namespace}`}`;
  const query = { labelSelector, fieldSelector, limit, continue: options.continue };
  const request = { method: "GET", path: collectionPath(kind, namespace), query } as const;
  const list = objectIn(attempt, await caller.text({ attempt, request, options }));
  if (!isList(list)) throw new AnswerError(`${attempt}: expected a list, found something without metadata or items`);
  return { metadata: list.metadata, items: typed(kind, (list.items ?? []) as Stored<T>[]) };
}

/**
 * The server leaves apiVersion and kind out of the items of built-in lists, but not out of watch events. With them put
 * back an object is the same whichever way it came, can be compared, and can be written back.
 */
function typed<T extends KubernetesObject>(kind: Kind<T>, items: Stored<T>[]): Stored<T>[] {
  if (items[0] === undefined || items[0].kind !== undefined) return items;
  const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  return items.map((item) => ({ ...type, ...item }));
}

export async function* listEvery<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions = {},
): AsyncGenerator<Stored<T>, void, undefined> {
  let last = "";
  for (let round: ListOptions = options, skipTo = ""; ; round = { ...options, continue: undefined }, skipTo = last) {
    try {
      for await (const item of itemsOfPages(caller, kind, round)) {
        const key = keyOf(refOf(item));
        if (key <= skipTo) continue;
        last = key;
        yield item;
      }
      return;
    } catch (error) {
      // History has moved on past our pages. Begin again; lists are ordered by key, so what was handed out can be skipped.
      if (!(error instanceof ExpiredError) || last === skipTo) throw error;
    }
  }
}

async function* itemsOfPages<T extends KubernetesObject>(
  caller: Caller,
  kind: Kind<T>,
  options: ListOptions,
): AsyncGenerator<Stored<T>, void, undefined> {
  let next = options.continue;
  do {
    const page = await listPage(caller, kind, { ...options, limit: options.limit ?? pageSize, continue: next });
    yield* page.items;
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
}
