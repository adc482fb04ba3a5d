// pods/resize: the only way to change the resources of an existing pod. The subresource changes only container resources. The QoS
// class must not change, no request or limit can be removed, and requests must fit the node. Limits are not compared with the
// node: 900Gi on a small node is valid.
import { type ApiObject, type Draft, draftOf, isObject, type JsonObject, listAt, objectAt, sameJson } from "../json.ts";
import { qosClassOf } from "../kinds/pod-template.ts";
import type { Admission, AdmissionRequest } from "../server/admission.ts";
import type { ServerCore } from "../server/core.ts";
import { type FieldError, forbiddenField, invalid as invalidField } from "../server/field-error.ts";
import { forbidden, invalid } from "../server/status-error.ts";
import { amountsIn, podAmounts } from "./limit-ranges.ts";

const nodes = { group: "", plural: "nodes" };
const containerLists = ["containers", "initContainers"] as const;
const resizable = ["cpu", "memory"] as const;

export function resizeAdmission({ storage }: Pick<ServerCore, "storage">): Admission {
  return {
    mutate: (draft, request) => {
      const { oldObject } = request;
      if (!isResize(request) || oldObject === undefined) return false;
      keepAllButResources(draft, oldObject);
      return true;
    },
    validate: (pod, request) => {
      const { oldObject, kind, ref } = request;
      if (!isResize(request) || oldObject === undefined) return;
      const errors = resizeErrors(pod, oldObject);
      if (errors.length > 0) throw invalid(kind, ref.name, errors);
      if (!sameJson(pod.spec, oldObject.spec)) checkFitsNode(pod, request, storage);
    },
  };
}

function isResize({ kind, operation, subresource }: AdmissionRequest): boolean {
  return kind.group === "" && kind.plural === "pods" && operation === "UPDATE" && subresource === "resize";
}

/** Metadata that a resize cannot change. The server already protects the identity. */
const untouched = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/** Drops all other changes. Keeps added and removed containers, which validation rejects. */
function keepAllButResources(draft: Draft, old: ApiObject): void {
  const [spec, before] = [objectAt(draft, "spec"), objectAt(old, "spec")];
  if (containerLists.some((list) => listAt(spec, list).length !== listAt(before, list).length)) return;
  const lists = containerLists.map((list) => [list, resized(listAt(spec, list), listAt(before, list))] as const);
  draft.spec = { ...draftOf(before), ...Object.fromEntries(lists.filter(([, containers]) => containers.length > 0)) };
  for (const field of untouched) {
    if (old.metadata[field] === undefined) delete draft.metadata[field];
    else Object.assign(draft.metadata, { [field]: draftOf(old.metadata[field]) });
  }
}

function resized(containers: readonly JsonObject[], before: readonly JsonObject[]): readonly JsonObject[] {
  if (containers.some(({ name }, at) => name !== before[at]?.name)) return containers;
  return containers.map(({ resources, resizePolicy }, at) => {
    const kept = draftOf(before[at] ?? {});
    return { ...kept, ...(resources !== undefined && { resources }), ...(resizePolicy !== undefined && { resizePolicy }) };
  });
}

function resizeErrors(pod: ApiObject, old: ApiObject): readonly FieldError[] {
  const [spec, before] = [objectAt(pod, "spec"), objectAt(old, "spec")];
  if (old.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined)
    return [forbiddenField("", "static pods cannot be resized")];
  const order = orderErrors(spec, before);
  const removed =
    order.length > 0 ? [] : [...removedErrors(spec, before, "initContainers"), ...removedErrors(spec, before, "containers")];
  const others = order.length > 0 ? [] : otherErrors(spec, before);
  return [...qosErrors(pod, old), ...supportErrors(old), ...order, ...removed, ...others];
}

function qosErrors(pod: ApiObject, old: ApiObject): readonly FieldError[] {
  const { qosClass = qosClassOf(objectAt(old, "spec")) } = objectAt(old, "status");
  if (qosClassOf(objectAt(pod, "spec")) === qosClass) return [];
  return [invalidField("spec", qosClass, "Pod QOS Class may not change as a result of resizing")];
}

/** A kubelet that supports resize reports the resources of running containers in the status. */
function supportErrors(old: ApiObject): readonly FieldError[] {
  const running = listAt(old, "status", "containerStatuses").find((status) => isObject(objectAt(status, "state").running));
  if (running === undefined || running.resources !== undefined) return [];
  return [forbiddenField("spec", "Pod running on node without support for resize")];
}

function orderErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  return containerLists.flatMap((list) => {
    const [now, then] = [listAt(spec, list), listAt(before, list)];
    if (now.length !== then.length) return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)];
    return now.flatMap(({ name }, at) =>
      name === then[at]?.name
        ? []
        : [forbiddenField(`spec.${list}[${at}].name`, `${list} may not be renamed or reordered on resize`)],
    );
  });
}

function removedErrors(spec: JsonObject, before: JsonObject, list: "containers" | "initContainers"): readonly FieldError[] {
  return listAt(before, list).flatMap((container, at) =>
    (["requests", "limits"] as const).flatMap((part) => {
      const left = objectAt(listAt(spec, list)[at], "resources", part);
      const isGone = Object.keys(objectAt(container, "resources", part)).some((name) => !(name in left));
      return isGone ? [forbiddenField(`spec.${list}[${at}].resources.${part}`, `resource ${part} cannot be removed`)] : [];
    }),
  );
}

/** Rejects changes to resources other than CPU and memory. */
function otherErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  const [now, then] = [spec, before].map(
    (each) => (list: "containers" | "initContainers") => listAt(each, list).map(withoutResizable),
  );
  const changed = (list: "containers" | "initContainers") =>
    (now?.(list) ?? []).map((container, at) => !sameJson(container, then?.(list)[at]));
  const mutable = "only cpu and memory resources are mutable";
  return [
    ...changed("containers").flatMap((isChanged) => (isChanged ? [forbiddenField("spec", mutable)] : [])),
    ...changed("initContainers").flatMap((isChanged, at) =>
      isChanged
        ? [
            forbiddenField(
              `spec.initContainers[${at}]`,
              "only cpu and memory resources for init or sidecar containers are mutable",
            ),
          ]
        : [],
    ),
  ];
}

/** The container without the fields that a resize can change. */
function withoutResizable({ resources, ...container }: JsonObject): JsonObject {
  const others = (["requests", "limits"] as const).map((part) => {
    const entries = Object.entries(objectAt({ resources }, "resources", part));
    return entries.filter(([name]) => !resizable.some((each) => each === name));
  });
  return { ...container, others };
}

function checkFitsNode(pod: ApiObject, { kind, ref }: AdmissionRequest, storage: ServerCore["storage"]): void {
  const name = objectAt(pod, "spec").nodeName;
  if (!name) return;
  const node = storage.get(nodes, { name: String(name) });
  if (node === undefined) throw forbidden(kind, ref.name, `node ${JSON.stringify(name)} not found`);
  const requests = podAmounts(objectAt(pod, "spec"), "requests");
  const allocatable = amountsIn(objectAt(node, "status", "allocatable"));
  const short = resizable.flatMap((resource) => {
    const [wanted, there] = [requests.get(resource), allocatable.get(resource)];
    if (wanted === undefined || (there !== undefined && wanted.compare(there) <= 0)) return [];
    const count = (amount = there) => (resource === "cpu" ? amount?.milliValue() : amount?.value()) ?? 0;
    return [`${resource}, requested: ${count(wanted)}, allocatable: ${count()}`];
  });
  if (short.length === 0) return;
  const why = `node didn't have enough allocatable resources: ${short.join("; ")}`;
  throw forbidden(kind, ref.name, why, [{ reason: "NodeCapacity" }]);
}
