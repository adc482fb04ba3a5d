// Lists: all at once or page by page, always of one moment. Pages after the first show what the first one saw.
import { keyOf } from "@memhog/runtime";
import type { ApiObject } from "../json.ts";
import { CompactedError } from "../storage/storage.ts";
import { asOfNow, decodeContinue, encodeContinue } from "./continue-token.ts";
import { asServed, type ServerCore, storedKindOf, type Target } from "./core.ts";
import { numberIn, type Query, textIn } from "./query.ts";
import { listVersionIn } from "./resource-version.ts";
import { type Filter, filterIn } from "./selectors.ts";
import { badRequest, expired, tooLargeResourceVersion } from "./status-error.ts";

export interface Page {
  readonly items: readonly ApiObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

const tooOldToContinue =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** @throws StatusError */
export async function listObjects(core: ServerCore, { kind, namespace }: Target, query: Query): Promise<Page> {
  const filter = filterIn(query, kind);
  const limit = Math.max(0, numberIn(query, "limit") ?? 0);
  const { version, after } = momentOf(core, query);
  const all = await asServed(kind, stored(core, { kind, ...(namespace !== undefined && { namespace }) }, version, after));
  const { items, more } = pageOf(all, { after, limit, filter });
  const last = items.at(-1);
  if (!more || last === undefined) return { items, metadata: { resourceVersion: String(version) } };
  const rest = all.length - all.indexOf(last) - 1;
  return {
    items,
    metadata: {
      resourceVersion: String(version),
      continue: encodeContinue({ version, after: keyOf(last.metadata as { name: string; namespace?: string }) }),
      // Counting what a selector would let through would mean looking at it all, so the real server does not.
      ...(filter === undefined && { remainingItemCount: rest }),
    },
  };
}

interface Moment {
  readonly version: bigint;
  readonly after: string | undefined;
}

function momentOf({ storage }: ServerCore, query: Query): Moment {
  const asked = listVersionIn(query);
  const token = textIn(query, "continue");
  if (token !== undefined && asked.version !== undefined && asked.version > 0n) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  if (token !== undefined) {
    const { version, after } = decodeContinue(token);
    return { version: version === asOfNow ? storage.version : version, after };
  }
  if (asked.version !== undefined && asked.version > storage.version) {
    throw tooLargeResourceVersion(asked.version, storage.version);
  }
  const exact = asked.match === "Exact" || (asked.match === undefined && numberIn(query, "limit") !== undefined);
  const version = exact && asked.version !== undefined && asked.version > 0n ? asked.version : storage.version;
  return { version, after: undefined };
}

function stored({ storage }: ServerCore, { kind, namespace }: Target, version: bigint, after: string | undefined) {
  try {
    return storage.list(storedKindOf(kind), { namespace }, version);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    if (after === undefined) throw expired("The resourceVersion for the provided list is too old.");
    throw expired(tooOldToContinue, encodeContinue({ version: asOfNow, after }));
  }
}

interface Cut {
  readonly after: string | undefined;
  /** 0: no limit. */
  readonly limit: number;
  readonly filter: Filter | undefined;
}

function pageOf(all: readonly ApiObject[], { after, limit, filter }: Cut) {
  const items: ApiObject[] = [];
  for (const object of all) {
    if (after !== undefined && keyOf(object.metadata as { name: string; namespace?: string }) <= after) continue;
    if (filter !== undefined && !filter(object)) continue;
    if (limit > 0 && items.length === limit) return { items, more: true };
    items.push(object);
  }
  return { items, more: false };
}
