// Asks everyone who has a say, in order.
import type { ApiObject, Draft, JsonObject } from "../json.ts";
import type { AdmissionRequest, UserInfo } from "./admission.ts";
import type { ServerCore, Target } from "./core.ts";

/** Everyone is admin. */
export const admin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

export interface AdmissionContext {
  readonly operation: AdmissionRequest["operation"];
  readonly target: Target;
  readonly old: ApiObject | undefined;
  readonly dryRun: boolean;
  readonly options: JsonObject;
  readonly warn?: ((text: string) => void) | undefined;
}

/** Lets admission write to the draft; true if anybody did. @throws StatusError */
export async function change(core: ServerCore, context: AdmissionContext, draft: Draft): Promise<boolean> {
  const request = requestOf(context, draft.metadata.name);
  let changed = false;
  for (const admission of core.admissions) if (await admission.mutate?.(draft, request)) changed = true;
  return changed;
}

/** Lets admission refuse. @throws StatusError */
export async function agree(core: ServerCore, context: AdmissionContext, object: ApiObject): Promise<void> {
  const request = requestOf(context, object.metadata.name);
  for (const admission of core.admissions) await admission.validate?.(object, request);
}

function requestOf({ operation, target, old, dryRun, options, warn }: AdmissionContext, name = ""): AdmissionRequest {
  const { kind, namespace, subresource } = target;
  return {
    operation,
    kind,
    ref: namespace === undefined ? { name } : { namespace, name },
    subresource,
    oldObject: old,
    dryRun,
    userInfo: admin,
    options,
    warn,
  };
}
