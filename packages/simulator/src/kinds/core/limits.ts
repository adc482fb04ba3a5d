// LimitRanges and ResourceQuotas. What they do is admission's business; here is only what they look like.
import { type ApiObject, type Draft, type JsonObject, objectAt } from "../../json.ts";
import { ageColumn, nameColumn, text } from "../columns.ts";
import type { KindEntry, PrepareContext } from "../kind-entry.ts";
import { builtIn, status } from "../row.ts";

/** For containers: a limit where only a maximum is given, a request where only a limit or a minimum is. */
function fillLimit(limit: JsonObject): void {
  if (limit.type !== "Container") return;
  const max = objectAt(limit, "max");
  const usual = { ...max, ...objectAt(limit, "default") };
  const request = { ...objectAt(limit, "min"), ...usual, ...objectAt(limit, "defaultRequest") };
  if (Object.keys(usual).length > 0) limit.default = usual;
  if (Object.keys(request).length > 0) limit.defaultRequest = request;
}

export const limitRanges: KindEntry = builtIn("", "v1", "LimitRange", {
  shortNames: ["limits"],
  createOnUpdate: true,
  table: { "spec!": { "limits[]": { "*": fillLimit } } },
});

const shown = (isLimit: boolean) => (quota: ApiObject) => {
  const used = objectAt(quota, "status", "used");
  const hard = Object.entries(objectAt(quota, "status", "hard")).filter(([name]) => name.startsWith("limits.") === isLimit);
  return hard
    .map(([name, amount]) => `${name}: ${used[name] ?? 0}/${amount}`)
    .sort()
    .join(", ");
};

export const resourceQuotas: KindEntry = builtIn("", "v1", "ResourceQuota", {
  shortNames: ["quota"],
  returnsDeleted: true,
  prepare: (draft: Draft, { old }: PrepareContext) => {
    if (old === undefined) draft.status = {};
  },
  columns: [nameColumn, text("Request", shown(false)), text("Limit", shown(true)), ageColumn],
  subresources: status,
});
