// What may change or refuse a write beside the kind itself, in the order of the real API server:
//
//   limit-ranges.ts     what a container gets if it does not say, and how much it may have
//   webhooks/           strangers that were invited by a configuration: first those that change, then those that refuse
//   resize.ts           what may be changed of a pod that is there
//   resource-quotas.ts  how much of everything a namespace may have; last, for it books what the others have let through
import type { SimulatorPart } from "../simulator.ts";
import { limitRangeAdmission } from "./limit-ranges.ts";
import { resizeAdmission } from "./resize.ts";
import { quotaAdmission } from "./resource-quotas.ts";
import { webhookAdmission } from "./webhooks/webhooks.ts";

export function admission(): SimulatorPart {
  return {
    name: "admission",
    prepare: (core) => {
      core.admissions.push(limitRangeAdmission(core), webhookAdmission(core), resizeAdmission(core), quotaAdmission(core));
    },
  };
}
