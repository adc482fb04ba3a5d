// Tables: what `kubectl get` shows. The columns come with the kind, as data.
import type { ApiObject } from "../json.ts";
import { nameColumn } from "../kinds/columns.ts";
import type { Column, KindEntry } from "../kinds/kind-entry.ts";

/** How much of each object comes along with its row. */
export type IncludeObject = "None" | "Metadata" | "Object";

const plainColumns: readonly Column[] = [
  nameColumn,
  { name: "Created At", type: "date", cell: ({ metadata }) => metadata.creationTimestamp ?? null },
];

interface TableContext {
  readonly now: number;
  readonly includeObject: IncludeObject;
}

export function tableOf(kind: KindEntry, objects: readonly ApiObject[], { now, includeObject }: TableContext) {
  const columns = kind.columns ?? plainColumns;
  const [only] = objects;
  const resourceVersion = objects.length === 1 ? only?.metadata.resourceVersion : undefined;
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { ...(resourceVersion && { resourceVersion }) },
    columnDefinitions: columns.map(({ name, type = "string", format = "", description = "", priority = 0 }) => ({
      name,
      type,
      format,
      description,
      priority,
    })),
    rows: objects.filter(isWhole).map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      object: shown(object, includeObject),
    })),
  };
}

/** A bookmark has nothing that a row could show. */
function isWhole({ metadata }: ApiObject): boolean {
  return metadata.name !== undefined;
}

function shown(object: ApiObject, include: IncludeObject): unknown {
  if (include === "None") return null;
  return include === "Object" ? object : partial(object);
}

/** Only the metadata of an object. */
export function partial({ metadata }: ApiObject) {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
}
