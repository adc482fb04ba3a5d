// Deployments, ReplicaSets, StatefulSets, DaemonSets, and ControllerRevisions.
import { type ApiObject, type JsonObject, listAt, objectAt, valueAt } from "../json.ts";
import { type FieldError, forbiddenField, invalid, notSupported } from "../server/field-error.ts";
import { ageColumn, at, containerColumns, count, mapText, nameColumn, selectorColumn, text } from "./columns.ts";
import { claimDefaults } from "./core/volumes.ts";
import { applyDefaults, type Defaults } from "./defaults.ts";
import { builtIn, type KindEntry, scale, status, type ValidateContext } from "./kind-entry.ts";
import { labelErrors } from "./names.ts";
import { podSpecDefaults } from "./pod-template.ts";
import { podSpecErrors } from "./pod-validation.ts";
import { immutable, intOrPercentErrors, notNegativeFields, oneOf, selectorErrors } from "./validation.ts";

const template: Defaults = { "template!": { "spec!": podSpecDefaults } };
const templateColumns = containerColumns("spec", "template", "spec");
const numbers = ["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"];

/** Common validation: nonnegative numbers, a selector that matches the template, restartPolicy Always. */
function workloadErrors(object: ApiObject, what: string): readonly FieldError[] {
  const spec = objectAt(object, "spec", "template", "spec");
  const restarts = spec.restartPolicy !== undefined && spec.restartPolicy !== "Always";
  const labels = objectAt(object, "spec", "template", "metadata", "labels");
  return [
    ...notNegativeFields(objectAt(object, "spec"), "spec", numbers),
    ...selectorErrors(object, what),
    ...labelErrors("spec.template.labels", labels),
    ...podSpecErrors(spec, "spec.template.spec", claimVolumesOf(object)),
    ...(restarts ? [notSupported("spec.template.spec.restartPolicy", spec.restartPolicy, ["Always"])] : []),
  ];
}

/** The volumes that a StatefulSet adds to its pods, one per claim template with the name of the template. */
function claimVolumesOf(object: ApiObject): readonly JsonObject[] {
  return listAt(object, "spec", "volumeClaimTemplates").map((template) => ({ name: objectAt(template, "metadata").name }));
}

function retentionErrors(object: ApiObject): readonly FieldError[] {
  const policy = objectAt(object, "spec", "persistentVolumeClaimRetentionPolicy");
  return ["whenDeleted", "whenScaled"].flatMap((field) =>
    oneOf(`spec.persistentVolumeClaimRetentionPolicy.${field}`, policy[field], ["Retain", "Delete"]),
  );
}

/** Validates the spec, except in writes to a subresource. */
function specErrors(what: string, more: (object: ApiObject, old: ApiObject | undefined) => readonly FieldError[]) {
  return (object: ApiObject, old: ApiObject | undefined, { subresource }: ValidateContext) =>
    subresource === undefined ? [...workloadErrors(object, what), ...more(object, old)] : [];
}

const zero = (value: unknown) => value === 0 || value === "0%" || value === "0";

function rollingErrors(object: ApiObject): readonly FieldError[] {
  const field = "spec.strategy.rollingUpdate";
  const { type, rollingUpdate } = objectAt(object, "spec", "strategy");
  const { maxUnavailable, maxSurge } = objectAt({ rollingUpdate }, "rollingUpdate");
  if (type === "Recreate") {
    const why = "may not be specified when strategy `type` is 'Recreate'";
    return rollingUpdate === undefined ? [] : [forbiddenField(field, why)];
  }
  if (type !== "RollingUpdate") {
    const found = { Type: type, RollingUpdate: rollingUpdate ?? null };
    return [notSupported("spec.strategy", found, ["Recreate", "RollingUpdate"])];
  }
  const stuck = zero(maxUnavailable) && zero(maxSurge);
  return [
    ...intOrPercentErrors(`${field}.maxUnavailable`, maxUnavailable),
    ...intOrPercentErrors(`${field}.maxSurge`, maxSurge),
    ...(stuck ? [invalid(`${field}.maxUnavailable`, maxUnavailable, "may not be 0 when `maxSurge` is 0")] : []),
  ];
}

const rolls = ({ type }: JsonObject) => type === "RollingUpdate";
const whenRolling = (value: unknown) => (strategy: JsonObject) => (rolls(strategy) ? value : undefined);
const replicasText = (ready: string) => (object: ApiObject) =>
  `${valueAt(object, "status", ready) ?? 0}/${valueAt(object, "spec", "replicas") ?? 1}`;

export const deployments: KindEntry = builtIn("apps", "v1", "Deployment", {
  shortNames: ["deploy"],
  categories: ["all"],
  generation: "spec and annotations",
  statusWrites: "annotations",
  table: {
    "spec!": {
      replicas: 1,
      ...template,
      "strategy!": {
        type: "RollingUpdate",
        "*": (strategy: JsonObject) => {
          if (rolls(strategy)) applyDefaults(strategy, { "rollingUpdate!": { maxUnavailable: "25%", maxSurge: "25%" } });
        },
      },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  },
  validate: specErrors("deployment", (object, old) => [...rollingErrors(object), ...immutable("spec.selector", object, old)]),
  columns: [
    nameColumn,
    text("Ready", replicasText("readyReplicas")),
    text("Up-to-date", at(".status.updatedReplicas", 0)),
    text("Available", at(".status.availableReplicas", 0)),
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  subresources: { ...status, ...scale },
});

export const replicaSets: KindEntry = builtIn("apps", "v1", "ReplicaSet", {
  shortNames: ["rs"],
  categories: ["all"],
  generation: "spec",
  table: { "spec!": { replicas: 1, ...template } },
  validate: specErrors("deployment", (object, old) => immutable("spec.selector", object, old)),
  columns: [
    nameColumn,
    count("Desired", ".spec.replicas"),
    count("Current", ".status.replicas"),
    count("Ready", ".status.readyReplicas"),
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  subresources: { ...status, ...scale },
});

const fixedInStatefulSets = ["selector", "serviceName", "podManagementPolicy", "volumeClaimTemplates"];

export const statefulSets: KindEntry = builtIn("apps", "v1", "StatefulSet", {
  shortNames: ["sts"],
  categories: ["all"],
  generation: "spec",
  table: {
    "spec!": {
      replicas: 1,
      ...template,
      "volumeClaimTemplates[]": { apiVersion: "v1", kind: "PersistentVolumeClaim", ...claimDefaults },
      podManagementPolicy: "OrderedReady",
      "updateStrategy!": {
        type: "RollingUpdate",
        rollingUpdate: whenRolling({}),
        "rollingUpdate?": { partition: 0, maxUnavailable: 1 },
      },
      revisionHistoryLimit: 10,
      "persistentVolumeClaimRetentionPolicy!": { whenDeleted: "Retain", whenScaled: "Retain" },
    },
  },
  validate: specErrors("statefulset", (object, old) => [
    ...retentionErrors(object),
    ...fixedInStatefulSets.flatMap((field) => immutable(`spec.${field}`, object, old)),
  ]),
  columns: [nameColumn, text("Ready", replicasText("readyReplicas")), ageColumn, ...templateColumns],
  subresources: { ...status, ...scale },
});

export const daemonSets: KindEntry = builtIn("apps", "v1", "DaemonSet", {
  shortNames: ["ds"],
  categories: ["all"],
  generation: "spec",
  table: {
    "spec!": {
      ...template,
      "updateStrategy!": {
        type: "RollingUpdate",
        rollingUpdate: whenRolling({}),
        "rollingUpdate?": { maxUnavailable: 1, maxSurge: 0 },
      },
      revisionHistoryLimit: 10,
    },
  },
  // The generation of the template is kept under its deprecated name for clients that still read it.
  prepare: (draft, { old }) => {
    const name = "deprecated.daemonset.template.generation";
    if (old === undefined) draft.metadata.annotations = { ...draft.metadata.annotations, [name]: "1" };
  },
  validate: (object, old, { subresource }) =>
    subresource === undefined ? [...immutable("spec.selector", object, old), ...workloadErrors(object, "daemonset")] : [],
  columns: [
    nameColumn,
    count("Desired", ".status.desiredNumberScheduled"),
    count("Current", ".status.currentNumberScheduled"),
    count("Ready", ".status.numberReady"),
    count("Up-to-date", ".status.updatedNumberScheduled"),
    count("Available", ".status.numberAvailable"),
    text("Node Selector", (set) => mapText(objectAt(set, "spec", "template", "spec", "nodeSelector"))),
    ageColumn,
    ...templateColumns,
    selectorColumn,
  ],
  subresources: status,
});

function ownerText({ metadata }: ApiObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return "<none>";
  const [group, version] = owner.apiVersion.split("/");
  return `${owner.kind.toLowerCase()}${version === undefined ? "" : `.${group}`}/${owner.name}`;
}

export const controllerRevisions: KindEntry = builtIn("apps", "v1", "ControllerRevision", {
  validate: (object, old) => immutable("data", object, old),
  columns: [nameColumn, text("Controller", ownerText), text("Revision", at(".revision", 0)), ageColumn],
});
