// A pod runs as somebody: as the account it names, else as "default" of its namespace, which must be there. Unless it does
// not want it, each container finds a token of that account where all the world looks for it.
import type { Environment } from "@memhog/runtime";
import { type ApiObject, type JsonObject, listAt, objectAt } from "../../json.ts";
import type { Admission, AdmissionRequest } from "../admission.ts";
import type { ServerCore } from "../core.ts";
import { randomSuffix } from "../metadata.ts";
import { forbidden } from "../status-error.ts";

const accounts = { group: "", plural: "serviceaccounts" };
const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const prefix = "kube-api-access-";

export function serviceAccounts({ storage, environment }: Pick<ServerCore, "storage" | "environment">): Admission {
  return {
    mutate: (draft, request) => {
      if (!isNewPod(request)) return false;
      const { namespace = "" } = request.ref;
      const spec = objectAt(draft, "spec");
      const name = String(spec.serviceAccountName || "default");
      const account = storage.get(accounts, { namespace, name });
      if (account === undefined) {
        const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
        throw forbidden(request.kind, draft.metadata.name ?? "", why);
      }
      Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
      if (wantsToken(spec, account)) mountToken(spec, environment);
      const secrets = listAt(account, "imagePullSecrets");
      if (spec.imagePullSecrets === undefined && secrets.length > 0) spec.imagePullSecrets = structuredClone(secrets);
      draft.spec = spec;
      return true;
    },
  };
}

function isNewPod({ operation, kind, subresource }: AdmissionRequest): boolean {
  return operation === "CREATE" && kind.group === "" && kind.plural === "pods" && subresource === undefined;
}

function wantsToken({ automountServiceAccountToken }: JsonObject, account: ApiObject): boolean {
  return (automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) !== false;
}

function mountToken(spec: JsonObject, environment: Environment): void {
  const containers = [...listAt(spec, "initContainers"), ...listAt(spec, "containers")];
  const needy = containers.filter((each) => !listAt(each, "volumeMounts").some(({ mountPath }) => mountPath === tokenPath));
  if (needy.length === 0) return;
  const volumes = [...listAt(spec, "volumes")];
  const known = volumes.find((volume) => String(volume.name).startsWith(prefix) && volume.projected !== undefined);
  const name = String(known?.name ?? `${prefix}${randomSuffix(environment)}`);
  if (known === undefined) spec.volumes = [...volumes, { name, projected: { sources: sources(), defaultMode: 420 } }];
  for (const container of needy) {
    container.volumeMounts = [...listAt(container, "volumeMounts"), { name, readOnly: true, mountPath: tokenPath }];
  }
}

function sources(): readonly JsonObject[] {
  const namespace = { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } };
  return [
    { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    { downwardAPI: { items: [namespace] } },
  ];
}
