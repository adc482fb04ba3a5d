// Which objects a list or a watch is about: label and field selectors, compiled once per request.
import { matches, requirementsOf } from "@memhog/runtime";
import type { ApiObject } from "../json.ts";
import type { KindEntry } from "../kinds/kind-entry.ts";
import { type Query, textIn } from "./query.ts";
import { badRequest } from "./status-error.ts";

export type Filter = (object: ApiObject) => boolean;

interface Term {
  readonly value: string;
  readonly read: (object: ApiObject) => string;
  readonly equal: boolean;
}

/** What the selectors of a query let through; undefined if there are none. @throws StatusError */
export function filterIn(query: Query, kind: KindEntry): Filter | undefined {
  const labels = labelFilter(textIn(query, "labelSelector"));
  const fields = fieldFilter(textIn(query, "fieldSelector"), kind);
  if (labels === undefined || fields === undefined) return labels ?? fields;
  return (object) => labels(object) && fields(object);
}

function labelFilter(selector: string | undefined): Filter | undefined {
  if (selector === undefined) return undefined;
  try {
    const requirements = requirementsOf(selector);
    return ({ metadata }) => matches(requirements, metadata.labels);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${error instanceof Error ? error.message : error}`);
  }
}

function fieldFilter(selector: string | undefined, kind: KindEntry): Filter | undefined {
  if (selector === undefined) return undefined;
  const terms = selector.split(/(?<!\\),/).map((term) => termOf(term, kind));
  return (object) => terms.every(({ read, value, equal }) => (read(object) === value) === equal);
}

function termOf(term: string, kind: KindEntry): Term {
  const found = /^([^=!]*)(!=|==|=)(.*)$/.exec(term);
  if (found === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const [, field = "", sign, value = ""] = found;
  return { read: readerOf(field, kind), value: value.replace(/\\([\\,=])/g, "$1"), equal: sign !== "!=" };
}

function readerOf(field: string, kind: KindEntry): (object: ApiObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace" && kind.namespaced) return ({ metadata }) => metadata.namespace ?? "";
  const read = kind.selectableFields?.[field];
  if (read === undefined) throw badRequest(unsupported(field, kind));
  return read;
}

/** Kinds that select by fields of their own say no in other words than those that do not. */
function unsupported(field: string, { kind, selectableFields, customResource }: KindEntry): string {
  if (kind === "Job") return `field label "${field}" not supported for ${kind}`;
  if (selectableFields !== undefined || customResource !== undefined) return `field label not supported: ${field}`;
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}
