// Admission plugins that every cluster enables. LimitRange, quota, resize, and webhooks run after them (src/admission/).

import { type Environment, parseQuantity } from "@memhog/runtime";
import { type ApiObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";
import type { ServerCore } from "./core.ts";
import { invalid as invalidField } from "./field-error.ts";
import { randomSuffix } from "./metadata.ts";
import { forbidden, invalid, notFound } from "./status-error.ts";

export function builtInAdmission(core: Pick<ServerCore, "storage" | "environment">): readonly Admission[] {
  return [
    namespaceLifecycle(core), // first: a missing namespace is reported before any other error
    serviceAccounts(core),
    priorities(core),
    defaultTolerations,
    taintNewNodes,
    serviceAddresses(core),
    defaultStorageClass(core),
    claimResize(core),
  ];
}

// NamespaceLifecycle: rejects objects in missing or terminating namespaces, and the deletion of system namespaces.

const namespaces = { group: "", plural: "namespaces" };
const protectedNamespaces = ["default", "kube-system", "kube-public"];

function namespaceLifecycle({ storage }: Pick<ServerCore, "storage">): Admission {
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
      if (isProtectedNamespace(request)) throw forbidden(namespaces, request.ref.name, "this namespace may not be deleted");
    },
  };
}

function isProtectedNamespace({ operation, kind, ref }: AdmissionRequest): boolean {
  return operation === "DELETE" && kind.group === "" && kind.plural === "namespaces" && protectedNamespaces.includes(ref.name);
}

// TaintNodesByCondition: taints a new node until it is ready. The node controller removes the taint.

const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };

const taintNewNodes: Admission = {
  mutate: (draft, { operation, kind, subresource }) => {
    if (operation !== "CREATE" || kind.group !== "" || kind.plural !== "nodes" || subresource !== undefined) return false;
    const taints = listAt(draft, "spec", "taints");
    const known = taints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
    if (!known) draft.spec = { ...objectAt(draft, "spec"), taints: [...taints, { ...taint }] };
    return !known;
  },
};

// Priority and DefaultTolerationSeconds.

const priorityClasses = { group: "scheduling.k8s.io", plural: "priorityclasses" };

export function priorities({ storage }: Pick<ServerCore, "storage">): Admission {
  const defaultClass = () => storage.list(priorityClasses).find(({ globalDefault }) => globalDefault === true);
  return {
    mutate: (draft, request) => {
      if (!isNewPod(request)) return false;
      const spec = objectAt(draft, "spec");
      const { priorityClassName: name } = spec;
      const found = typeof name === "string" ? storage.get(priorityClasses, { name }) : defaultClass();
      if (name !== undefined && found === undefined) {
        throw forbidden(request.kind, draft.metadata.name ?? "", `no PriorityClass with name ${name} was found`);
      }
      const resolved = priorityOf(found);
      if (spec.priority !== undefined && spec.priority !== resolved.priority) {
        const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${resolved.priority} from the given PriorityClass name`;
        throw forbidden(request.kind, draft.metadata.name ?? "", why);
      }
      Object.assign(spec, resolved);
      draft.spec = spec;
      return true;
    },
  };
}

function priorityOf(found: ApiObject | undefined) {
  if (found === undefined) return { priority: 0, preemptionPolicy: "PreemptLowerPriority" };
  const { name = "" } = found.metadata;
  const preemptionPolicy = found.preemptionPolicy ?? "PreemptLowerPriority";
  return { priorityClassName: name, priority: found.value ?? 0, preemptionPolicy };
}

const notReadyTaints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** Tolerates a node that is not ready for five minutes, unless the pod has its own toleration. Clients cannot remove it. */
const defaultTolerations: Admission = {
  mutate: (draft, { kind, subresource }) => {
    if (kind.group !== "" || kind.plural !== "pods" || subresource !== undefined) return false;
    const spec = objectAt(draft, "spec");
    const own = listAt(spec, "tolerations");
    const tolerates = (key: string) =>
      own.some(
        (each) => (each.key === key || each.key === undefined) && (each.effect === "NoExecute" || each.effect === undefined),
      );
    const added = notReadyTaints
      .filter((key) => !tolerates(key))
      .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }));
    if (added.length > 0) spec.tolerations = [...own, ...added];
    draft.spec = spec;
    return added.length > 0;
  },
};

function isNewPod({ operation, kind, subresource }: AdmissionRequest): boolean {
  return operation === "CREATE" && kind.group === "" && kind.plural === "pods" && subresource === undefined;
}

// ServiceAccount: a pod without a service account uses "default". The account must exist. Containers get a token unless the pod
// or the account opts out.

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

function wantsToken({ automountServiceAccountToken }: JsonObject, account: ApiObject): boolean {
  return (automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) !== false;
}

function mountToken(spec: JsonObject, environment: Environment): void {
  const containers = [...listAt(spec, "initContainers"), ...listAt(spec, "containers")];
  const withoutToken = containers.filter(
    (each) => !listAt(each, "volumeMounts").some(({ mountPath }) => mountPath === tokenPath),
  );
  if (withoutToken.length === 0) return;
  const volumes = [...listAt(spec, "volumes")];
  const known = volumes.find((volume) => String(volume.name).startsWith(prefix) && volume.projected !== undefined);
  const name = String(known?.name ?? `${prefix}${randomSuffix(environment)}`);
  if (known === undefined) spec.volumes = [...volumes, { name, projected: { sources: sources(), defaultMode: 420 } }];
  for (const container of withoutToken) {
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

// Cluster IPs and node ports of Services. The simulator only allocates them; nothing listens there.

const services = { group: "", plural: "services" };
const firstNodePort = 30_000;
const nodePorts = 2768;

function serviceAddresses({ storage, environment }: Pick<ServerCore, "storage" | "environment">): Admission {
  const any = (count: number) => Math.floor(environment.random() * count);
  const freeAddress = (taken: ReadonlySet<unknown>): string => {
    const address = `10.96.${any(256)}.${1 + any(254)}`;
    return taken.has(address) ? freeAddress(taken) : address;
  };
  const freePort = (taken: Set<unknown>): number => {
    const port = firstNodePort + any(nodePorts);
    if (taken.has(port)) return freePort(taken);
    taken.add(port);
    return port;
  };
  return {
    mutate: (draft, { operation, kind, subresource, oldObject }) => {
      if (kind.group !== "" || kind.plural !== "services" || subresource !== undefined) return false;
      const spec = objectAt(draft, "spec");
      const others = storage.list(services).filter(({ metadata }) => metadata.uid !== oldObject?.metadata.uid);
      const addresses = new Set(others.map((other) => valueAt(other, "spec", "clusterIP")));
      if (operation === "CREATE" && spec.clusterIP !== undefined && spec.clusterIP !== "None" && addresses.has(spec.clusterIP)) {
        throw taken(draft.metadata.name ?? "", spec.clusterIP);
      }
      const had = valueAt(oldObject, "spec", "clusterIP");
      if (spec.type !== "ExternalName" && spec.clusterIP === undefined) spec.clusterIP = had ?? freeAddress(addresses);
      if (wantsNodePorts(spec)) allocateNodePorts(spec, oldObject, new Set(others.flatMap(portsOf)), freePort);
      draft.spec = spec;
      return true;
    },
  };
}

function wantsNodePorts({ type, allocateLoadBalancerNodePorts }: JsonObject): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

function portsOf(service: ApiObject): readonly unknown[] {
  return listAt(service, "spec", "ports").map(({ nodePort }) => nodePort);
}

function allocateNodePorts(
  spec: JsonObject,
  old: ApiObject | undefined,
  used: Set<unknown>,
  free: (used: Set<unknown>) => number,
): void {
  for (const port of listAt(spec, "ports")) {
    const before = listAt(old, "spec", "ports").find((each) => each.port === port.port && each.protocol === port.protocol);
    port.nodePort ??= before?.nodePort ?? free(used);
  }
}

function taken(name: string, address: unknown) {
  const why = `failed to allocate IP ${address}: provided IP is already allocated`;
  return invalid({ group: "", kind: "Service" }, name, [invalidField("spec.clusterIPs", [address], why)]);
}

// DefaultStorageClass and PersistentVolumeClaimResize.

const storageClasses = { group: "storage.k8s.io", plural: "storageclasses" };
const isDefault = "storageclass.kubernetes.io/is-default-class";

function isClaim({ kind, subresource }: AdmissionRequest): boolean {
  return kind.group === "" && kind.plural === "persistentvolumeclaims" && subresource === undefined;
}

/** Uses the newest default StorageClass; of those created in the same second, the first by name. */
export function defaultStorageClass({ storage }: Pick<ServerCore, "storage">): Admission {
  return {
    mutate: (draft, request) => {
      const spec = objectAt(draft, "spec");
      if (request.operation !== "CREATE" || !isClaim(request) || spec.storageClassName !== undefined) return false;
      const created = ({ metadata }: ApiObject) => metadata.creationTimestamp ?? "";
      const [newest] = storage
        .list(storageClasses)
        .filter(({ metadata }) => metadata.annotations?.[isDefault] === "true")
        .sort((a, b) => (created(a) === created(b) ? 0 : created(a) < created(b) ? 1 : -1));
      if (newest === undefined) return false;
      draft.spec = { ...spec, storageClassName: newest.metadata.name ?? "" };
      return true;
    },
  };
}

const notResizable =
  "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";

function claimResize({ storage }: Pick<ServerCore, "storage">): Admission {
  const sizeOf = (claim: ApiObject) => parseQuantity(String(valueAt(claim, "spec", "resources", "requests", "storage") ?? 0));
  return {
    validate: (claim, request) => {
      const { operation, oldObject, kind, ref } = request;
      if (operation !== "UPDATE" || !isClaim(request) || oldObject === undefined) return;
      if (sizeOf(claim).compare(sizeOf(oldObject)) <= 0) return;
      const name = valueAt(claim, "spec", "storageClassName");
      const found = typeof name === "string" ? storage.get(storageClasses, { name }) : undefined;
      if (found?.allowVolumeExpansion !== true) throw forbidden(kind, ref.name, notResizable);
    },
  };
}
