// RBAC objects, webhook configurations, and CustomResourceDefinitions. Every user is an admin, so roles have no effect; the server
// stores them because operators install them.
import { type ApiObject, type Draft, type JsonObject, listAt, objectAt, sameJson, valueAt } from "../json.ts";
import { type FieldError, invalid, required } from "../server/field-error.ts";
import { ageColumn, nameColumn, text, wide } from "./columns.ts";
import type { Defaults } from "./defaults.ts";
import { builtIn, type Column, type KindEntry, type PrepareContext, status } from "./kind-entry.ts";
import { immutable } from "./validation.ts";

const group = "rbac.authorization.k8s.io";
const createdAt: Column = { name: "Created At", type: "date", cell: ({ metadata }) => metadata.creationTimestamp ?? null };

const role = (kind: string, namespaced: boolean): KindEntry =>
  builtIn(group, "v1", kind, {
    namespaced,
    names: "path",
    createOnUpdate: true,
    columns: [nameColumn, createdAt],
  });

const subjects = (kind: string) => (binding: ApiObject) =>
  listAt(binding, "subjects")
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === "ServiceAccount" ? `${namespace}/${name}` : name))
    .join(", ");

const binding = (kind: string, namespaced: boolean): KindEntry =>
  builtIn(group, "v1", kind, {
    namespaced,
    names: "path",
    createOnUpdate: true,
    table: {
      "subjects[]": { apiGroup: ({ kind: of }: JsonObject) => (of === "ServiceAccount" ? undefined : group) },
      "roleRef!": { apiGroup: group },
    },
    validate: (object, old) => [
      ...(valueAt(object, "roleRef", "name") ? [] : [required("roleRef.name")]),
      ...roleErrors(object, old),
    ],
    columns: [
      nameColumn,
      text("Role", (object) => {
        const { kind: of, name } = objectAt(object, "roleRef");
        return `${of}/${name}`;
      }),
      ageColumn,
      text("Users", subjects("User"), wide),
      text("Groups", subjects("Group"), wide),
      text("ServiceAccounts", subjects("ServiceAccount"), wide),
    ],
  });

/** The subjects of a binding can change, but its roleRef cannot. */
function roleErrors(object: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const { apiGroup, kind, name } = objectAt(object, "roleRef");
  const asGoShowsIt = { APIGroup: apiGroup, Kind: kind, Name: name };
  const changed = old !== undefined && !sameJson(object.roleRef, old.roleRef);
  return changed ? [invalid("roleRef", asGoShowsIt, "field is immutable")] : [];
}

const webhookDefaults: Defaults = {
  "clientConfig?": { "service?": { port: 443 } },
  "rules[]": { scope: "*" },
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
};

const webhooks = (kind: string, more: Defaults): KindEntry =>
  builtIn("admissionregistration.k8s.io", "v1", kind, {
    namespaced: false,
    categories: ["api-extensions"],
    generation: "spec",
    versionedUpdate: true,
    table: { "webhooks[]": { ...webhookDefaults, ...more } },
    columns: [
      nameColumn,
      { name: "Webhooks", type: "integer", cell: (configuration) => listAt(configuration, "webhooks").length },
      ageColumn,
    ],
  });

function versionsText(definition: ApiObject): string {
  return listAt(definition, "spec", "versions")
    .map(({ name, storage }) => `${name}${storage === true ? "(storage)" : ""}`)
    .join(",");
}

const customResourceDefinitions: KindEntry = builtIn("apiextensions.k8s.io", "v1", "CustomResourceDefinition", {
  namespaced: false,
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  generation: "spec",
  versionedUpdate: true,
  table: {
    "spec!": {
      "names!": {
        singular: ({ kind }: JsonObject) => String(kind).toLowerCase(),
        listKind: ({ kind }: JsonObject) => `${kind}List`,
      },
      "conversion!": { strategy: "None" },
    },
  },
  prepare: (draft: Draft, { old, subresource }: PrepareContext) => {
    const stored = listAt(draft, "spec", "versions").filter(({ storage }) => storage === true);
    const versions = stored.map(({ name }) => name);
    if (old === undefined) {
      draft.status = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: versions };
    } else if (subresource === undefined) {
      // Objects can still be stored in any earlier storage version.
      const status = objectAt(draft, "status");
      draft.status = { ...status, storedVersions: [...new Set([...listAt(status, "storedVersions"), ...versions])] };
    }
  },
  validate: (definition, old) => [...definitionNameErrors(definition), ...immutable("spec.scope", definition, old)],
  columns: [
    nameColumn,
    text("Scope", ".spec.scope"),
    text("Versions", versionsText),
    createdAt,
    text("Group", ".spec.group", wide),
    text("Kind", ".spec.names.kind", wide),
    text("ShortNames", (definition) => ((objectAt(definition, "spec", "names").shortNames ?? []) as string[]).join(","), wide),
    {
      name: "Established",
      type: "boolean",
      cell: (definition) =>
        listAt(definition, "status", "conditions").some((each) => each.type === "Established" && each.status === "True"),
      ...wide,
    },
  ],
  subresources: status,
});

function definitionNameErrors({ metadata, ...definition }: ApiObject) {
  const { group: of, names } = objectAt(definition, "spec");
  const wanted = `${valueAt(names, "plural")}.${of}`;
  return metadata.name === wanted ? [] : [invalid("metadata.name", metadata.name, `must be spec.names.plural+"."+spec.group`)];
}

export const accessKinds: readonly KindEntry[] = [
  role("Role", true),
  role("ClusterRole", false),
  binding("RoleBinding", true),
  binding("ClusterRoleBinding", false),
  webhooks("ValidatingWebhookConfiguration", {}),
  webhooks("MutatingWebhookConfiguration", { reinvocationPolicy: "Never" }),
  customResourceDefinitions,
];
