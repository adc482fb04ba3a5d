// Nothing comes into being where there is no namespace, or in one that is going; and some namespaces never go.
import { valueAt } from "../../json.ts";
import type { Admission, AdmissionRequest } from "../admission.ts";
import type { ServerCore } from "../core.ts";
import { forbidden, notFound } from "../status-error.ts";

const namespaces = { group: "", plural: "namespaces" };
const immortal = ["default", "kube-system", "kube-public"];

export function namespaceLifecycle({ storage }: Pick<ServerCore, "storage">): Admission {
  return {
    mutate: (draft, { operation, kind, ref, subresource }) => {
      if (operation !== "CREATE" || !kind.namespaced || subresource !== undefined) return false;
      const { namespace = "" } = ref;
      const found = storage.get(namespaces, { name: namespace });
      if (found === undefined) throw notFound(namespaces, namespace);
      if (found.metadata.deletionTimestamp === undefined && valueAt(found, "status", "phase") !== "Terminating") return false;
      const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
      const cause = {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      };
      throw forbidden(kind, draft.metadata.name ?? "", why, [cause]);
    },
    validate: (_object, request) => {
      if (isImmortal(request)) throw forbidden(namespaces, request.ref.name, "this namespace may not be deleted");
    },
  };
}

function isImmortal({ operation, kind, ref }: AdmissionRequest): boolean {
  return operation === "DELETE" && kind.group === "" && kind.plural === "namespaces" && immortal.includes(ref.name);
}
