import { describe, expect, it } from "vitest";
import { foreignFields } from "./apply-exact.ts";

/** An object with managed fields of the given managers. */
function live(content: object, ...managedFields: readonly object[]) {
  return { metadata: { name: "a", uid: "u", resourceVersion: "1", managedFields }, ...content };
}
const by = (manager: string, fieldsV1: object, more: object = {}) => ({ manager, operation: "Update", fieldsV1, ...more });

const port = (number: number, name = "main") => ({ name, port: number, protocol: "TCP" });
const portKey = (number: number) => `k:{"port":${number},"protocol":"TCP"}`;
const declaredPorts = { spec: { ports: [{ name: "main", port: 80 }] } };

const cases = [
  {
    name: "a key of a declared map is removed",
    found: live({ data: { a: "1", b: "2" } }, by("kubectl", { "f:data": { "f:b": {} } })),
    declared: { data: { a: "1" } },
    removed: [{ op: "remove", path: "/data/b" }],
  },
  {
    name: "a key is escaped as JSON Pointer demands",
    found: live({ data: { "a/b~c": "1" } }, by("kubectl", { "f:data": { "f:a/b~c": {} } })),
    declared: { data: {} },
    removed: [{ op: "remove", path: "/data/a~1b~0c" }],
  },
  {
    name: "a default stays: it has no manager",
    found: live({ spec: { ports: [port(80)], sessionAffinity: "None" } }, by("kubectl", { "f:spec": {} })),
    declared: declaredPorts,
    removed: [],
  },
  {
    name: "a top-level field that is not declared stays",
    found: live({ data: {}, binaryData: { b: "" } }, by("kubectl", { "f:binaryData": { "f:b": {} } })),
    declared: { data: {} },
    removed: [],
  },
  {
    name: "labels of others stay",
    found: live({ data: {} }, by("kubectl", { "f:metadata": { "f:labels": { "f:theirs": {} } } })),
    declared: { data: {} },
    removed: [],
  },
  {
    name: "a value that was set through a subresource stays",
    found: live({ spec: { replicas: 3, paused: true } }, by("hpa", { "f:spec": { "f:replicas": {} } }, { subresource: "scale" })),
    declared: { spec: { paused: true } },
    removed: [],
  },
  {
    name: "what the control plane sets stays",
    found: live({ spec: { volumeName: "v" } }, by("kube-controller-manager", { "f:spec": { "f:volumeName": {} } })),
    declared: { spec: {} },
    removed: [],
  },
  {
    name: "a list element that we own by an update is removed: an apply would not do that; a default in another one stays",
    found: live(
      { spec: { ports: [port(80), port(81, "old")] } },
      by("us", { "f:spec": { "f:ports": { [portKey(80)]: { "f:protocol": {} }, [portKey(81)]: {} } } }),
    ),
    declared: declaredPorts,
    removed: [{ op: "replace", path: "/spec/ports", value: [port(80)] }],
  },
  {
    name: "a default that we own by an update stays",
    found: live({ spec: { ports: [port(80)] } }, by("us", { "f:spec": { "f:ports": { [portKey(80)]: { "f:protocol": {} } } } })),
    declared: declaredPorts,
    removed: [],
  },
  {
    name: "what we own by an apply is not",
    found: live({ data: { old: "1" } }, by("us", { "f:data": { "f:old": {} } }, { operation: "Apply" })),
    declared: { data: {} },
    removed: [],
  },
  {
    name: "a list with a foreign element is replaced, and what the server added to our elements stays",
    found: live(
      { spec: { ports: [port(80), port(9999, "x")] } },
      by("kubectl", { "f:spec": { "f:ports": { [portKey(9999)]: {} } } }),
    ),
    declared: declaredPorts,
    removed: [{ op: "replace", path: "/spec/ports", value: [port(80)] }],
  },
  {
    name: "a field of a declared list element is removed",
    found: live(
      { spec: { ports: [{ ...port(80), appProtocol: "x" }] } },
      by("kubectl", { "f:spec": { "f:ports": { [portKey(80)]: { "f:appProtocol": {} } } } }),
    ),
    declared: declaredPorts,
    removed: [{ op: "remove", path: "/spec/ports/0/appProtocol" }],
  },
];

describe("foreign fields of an exact child", () => {
  it.each(cases)("$name", ({ found, declared, removed }) => expect(foreignFields(found, declared, "us")).toEqual(removed));
});
