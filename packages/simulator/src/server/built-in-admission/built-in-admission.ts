// Admission that every cluster has switched on. LimitRange, quota, resize and webhooks follow it (src/admission/).
import type { Admission } from "../admission.ts";
import type { ServerCore } from "../core.ts";
import { serviceAddresses } from "./addresses.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { taintNewNodes } from "./node-taint.ts";
import { defaultTolerations, priorities } from "./priority.ts";
import { serviceAccounts } from "./service-account.ts";

export function builtInAdmission(core: Pick<ServerCore, "storage" | "environment">): readonly Admission[] {
  return [
    namespaceLifecycle(core), // first: nothing else matters where there is no place
    serviceAccounts(core),
    priorities(core),
    defaultTolerations,
    taintNewNodes,
    serviceAddresses(core),
  ];
}
