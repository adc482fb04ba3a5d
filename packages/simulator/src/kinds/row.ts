// What rows of the table have in common.
import type { Draft } from "../json.ts";
import { applyDefaults, type Defaults } from "./defaults.ts";
import type { KindEntry, SubresourceEntry, Verb } from "./kind-entry.ts";
import { readAsGo } from "./shape.ts";
import { writeAsGo } from "./shape-out.ts";
import { structNameOf } from "./struct-name.ts";

export const allVerbs: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** `status`, and whatever else changes the object itself by another door. */
export const readAndWrite: SubresourceEntry = { verbs: ["get", "patch", "update"] };

export const status = { status: readAndWrite } as const;

export const scale = {
  scale: {
    verbs: ["get", "patch", "update"],
    speaks: { group: "autoscaling", version: "v1", kind: "Scale" },
    scale: { specReplicas: ".spec.replicas", statusReplicas: ".status.replicas" },
  },
} as const satisfies Record<string, SubresourceEntry>;

/** What a row says; the rest follows from it. */
export type Row = Partial<Omit<KindEntry, "group" | "version" | "kind" | "defaults">> & {
  readonly table?: Defaults;
};

/** A built-in kind. Singular is the kind in lower case, plural that with an "s", namespaced unless the row says otherwise. */
export function builtIn(group: string, version: string, kind: string, { table, ...row }: Row = {}): KindEntry {
  const singular = row.singular ?? kind.toLowerCase();
  const struct = structNameOf({ group, version, kind });
  const defaults = table && ((draft: Draft) => applyDefaults(draft, table));
  return {
    group,
    version,
    kind,
    singular,
    plural: row.plural ?? `${singular}s`,
    namespaced: row.namespaced ?? true,
    prune: (draft) => readAsGo(draft, struct),
    finish: (draft) => writeAsGo(draft, struct),
    ...row,
    ...(defaults && { defaults }),
  };
}
