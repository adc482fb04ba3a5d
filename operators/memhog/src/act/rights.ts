// Everything that acting may do, beside what a controller of AppMemory that watches these kinds has anyway. The Role is printed
// from this list (promise S1): whoever adds a call here adds a line there.
import { may, Pod } from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import { templatedKinds } from "./template-kinds.ts";

export const rightsToAct = [
  may(AppMemory, "create", "patch"), // remember.ts; patch: the owners of a bare pod's memory change with its copies
  may(AppMemory, "update", { subresource: "status" }),
  may(Pod, "get", "create", "delete"), // live-pod.ts, copy-pod.ts, delete-pod.ts
  may(Pod, "patch", { subresource: "resize" }),
  may(Pod, "create", { subresource: "eviction" }),
  ...templatedKinds.map((kind) => may(kind, "get", "patch")), // patch-template.ts
] as const;
