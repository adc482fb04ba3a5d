// How important a pod is, from the class it names; and how long it bears a node that is gone.
import { type ApiObject, listAt, objectAt } from "../../json.ts";
import type { Admission, AdmissionRequest } from "../admission.ts";
import type { ServerCore } from "../core.ts";
import { forbidden } from "../status-error.ts";

const classes = { group: "scheduling.k8s.io", plural: "priorityclasses" };

export function priorities({ storage }: Pick<ServerCore, "storage">): Admission {
  const usual = () => storage.list(classes).find(({ globalDefault }) => globalDefault === true);
  return {
    mutate: (draft, request) => {
      if (!isNewPod(request)) return false;
      const spec = objectAt(draft, "spec");
      const { priorityClassName: name } = spec;
      const found = typeof name === "string" ? storage.get(classes, { name }) : usual();
      if (name !== undefined && found === undefined) {
        throw forbidden(request.kind, draft.metadata.name ?? "", `no PriorityClass with name ${name} was found`);
      }
      const rank = rankOf(found);
      if (spec.priority !== undefined && spec.priority !== rank.priority) {
        const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${rank.priority} from the given PriorityClass name`;
        throw forbidden(request.kind, draft.metadata.name ?? "", why);
      }
      Object.assign(spec, rank);
      draft.spec = spec;
      return true;
    },
  };
}

function rankOf(found: ApiObject | undefined) {
  if (found === undefined) return { priority: 0, preemptionPolicy: "PreemptLowerPriority" };
  const { name = "" } = found.metadata;
  const preemptionPolicy = found.preemptionPolicy ?? "PreemptLowerPriority";
  return { priorityClassName: name, priority: found.value ?? 0, preemptionPolicy };
}

const troubles = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Five minutes on a node that does not answer, unless the pod says something about it itself. They cannot be removed. */
export const defaultTolerations: Admission = {
  mutate: (draft, { kind, subresource }) => {
    if (kind.group !== "" || kind.plural !== "pods" || subresource !== undefined) return false;
    const spec = objectAt(draft, "spec");
    const own = listAt(spec, "tolerations");
    const says = (key: string) =>
      own.some(
        (each) => (each.key === key || each.key === undefined) && (each.effect === "NoExecute" || each.effect === undefined),
      );
    const added = troubles
      .filter((key) => !says(key))
      .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
    if (added.length > 0) spec.tolerations = [...own, ...added];
    draft.spec = spec;
    return added.length > 0;
  },
};

function isNewPod({ operation, kind, subresource }: AdmissionRequest): boolean {
  return operation === "CREATE" && kind.group === "" && kind.plural === "pods" && subresource === undefined;
}
