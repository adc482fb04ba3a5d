import { ConfigMap } from "@memhog/runtime";
import { Namespace } from "@memhog/runtime/kinds";
import { anObject } from "@memhog/runtime/testing";
import { expect, it } from "vitest";
import { decideConditions } from "./namespaces.ts";

const going = anObject(Namespace, { metadata: { name: "busy" }, status: { phase: "Terminating" } });
const held = anObject(ConfigMap, { metadata: { name: "kept", finalizers: ["example.com/mine"] } });
const saying = (type: string, conditions = decideConditions(going, [{ kind: ConfigMap, objects: [held, held] }], 0)) =>
  conditions.find((condition) => condition.type === type);

it("a terminating namespace reports the remaining objects", () => {
  expect(saying("NamespaceContentRemaining")).toMatchObject({
    status: "True",
    message: "Some resources are remaining: configmaps. has 2 resource instances",
  });
});

it("a terminating namespace reports the remaining finalizers", () => {
  expect(saying("NamespaceFinalizersRemaining")).toMatchObject({
    status: "True",
    message: "Some content in the namespace has finalizers remaining: example.com/mine in 2 resource instances",
  });
});

it("a terminating namespace reports that nothing remains", () => {
  const conditions = decideConditions(going, [], 0);
  expect(conditions.every(({ status }) => status === "False")).toBe(true);
  expect(saying("NamespaceContentRemaining", conditions)?.reason).toBe("ContentRemoved");
});
