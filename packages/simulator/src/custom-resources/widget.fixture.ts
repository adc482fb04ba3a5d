// For tests: a definition that uses all supported features.
import type { ApiObject, JsonObject } from "../json.ts";

export const widgetSchema: JsonObject = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", format: "int64", minimum: 1, maximum: 9, default: 3 },
        odd: { type: "integer", "x-kubernetes-validations": [{ rule: "self % 2 == 1", message: "must be odd" }] },
        name: { type: "string", minLength: 1, maxLength: 5, pattern: "^[a-z]+$" },
        mode: { type: "string", enum: ["Auto", "InPlace"] },
        when: { type: "string", format: "date-time" },
        memory: { "x-kubernetes-int-or-string": true },
        tags: { type: "array", maxItems: 3, items: { type: "string" }, "x-kubernetes-list-type": "set" },
        parts: {
          type: "array",
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, size: { type: "integer", default: 1 } },
          },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
        },
        map: { type: "object", maxProperties: 2, additionalProperties: { type: "integer", minimum: 0 } },
        maybe: { type: "string", nullable: true },
        nested: { type: "object", default: {}, properties: { deep: { type: "integer", default: 7 } } },
        absent: { type: "object", properties: { deep: { type: "integer", default: 7 } } },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        either: { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
  },
};

/** The definition as stored, with accepted names. */
export const widgets = (change: JsonObject = {}): ApiObject => {
  const names = { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget", shortNames: ["wg"] };
  const columns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ];
  const scale = { specReplicasPath: ".spec.size", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" };
  const version = {
    ...{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: widgetSchema } },
    ...{ additionalPrinterColumns: columns, subresources: { status: {}, scale } },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com", uid: "1" },
    spec: { group: "example.com", scope: "Namespaced", names, versions: [version], ...change },
    status: { acceptedNames: names },
  } as ApiObject;
};
