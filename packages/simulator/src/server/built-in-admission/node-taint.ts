// A new node takes no pods until it has said that it is ready: the node controller removes the taint then.
import { listAt, objectAt } from "../../json.ts";
import type { Admission } from "../admission.ts";

const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

export const taintNewNodes: Admission = {
  mutate: (draft, { operation, kind, subresource }) => {
    if (operation !== "CREATE" || kind.group !== "" || kind.plural !== "nodes" || subresource !== undefined) return false;
    const taints = listAt(draft, "spec", "taints");
    const known = taints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
    if (!known) draft.spec = { ...objectAt(draft, "spec"), taints: [...taints, { ...taint }] };
    return !known;
  },
};
