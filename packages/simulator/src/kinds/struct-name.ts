import type { KindEntry } from "./kind-entry.ts";

/** The struct that a kind is kept in: "core.v1.Pod", "rbac.v1.Role". */
export function structNameOf({ group, version, kind }: Pick<KindEntry, "group" | "version" | "kind">): string {
  return `${group.split(".")[0] || "core"}.${version}.${kind}`;
}
