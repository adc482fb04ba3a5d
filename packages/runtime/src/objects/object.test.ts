import { describe, expect, it } from "vitest";
import { Pod } from "./kinds/pod.ts";
import { Deployment } from "./kinds/workloads.ts";
import { controllerOf, isControlledBy, isOwnedBy, isReferenceTo, ownerReferenceTo } from "./object.ts";

const web = { metadata: { name: "web", uid: "1234" } };
const reference = ownerReferenceTo(web, Deployment);
const onlooker = { ...reference, uid: "5678", controller: false };
const child = { metadata: { ownerReferences: [onlooker, reference] } };

describe("owner references", () => {
  it("use the UID, and mark the controller by default", () => {
    expect(reference).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      name: "web",
      uid: "1234",
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  it("have apiVersion v1 for the core group", () => expect(ownerReferenceTo(web, Pod).apiVersion).toBe("v1"));

  it("can be non-controlling", () => {
    expect(ownerReferenceTo(web, Pod, { controller: false, blockOwnerDeletion: false })).toMatchObject({
      controller: false,
      blockOwnerDeletion: false,
    });
  });

  it("controllerOf finds the controller among several owners", () => {
    expect(controllerOf(child)).toBe(reference);
    expect([isControlledBy(child, "1234"), isControlledBy(child, "5678")]).toEqual([true, false]);
  });

  it("isOwnedBy finds every owner", () => {
    expect(["1234", "5678", "9999"].map((uid) => isOwnedBy(child, uid))).toEqual([true, true, false]);
  });

  it.each([
    { name: "another version of the kind", apiVersion: "apps/v1beta1", kind: "Deployment", is: true },
    { name: "another group", apiVersion: "example.com/v1", kind: "Deployment", is: false },
    { name: "a group with the same prefix", apiVersion: "apps.example.com/v1", kind: "Deployment", is: false },
    { name: "the core group", apiVersion: "v1", kind: "Deployment", is: false },
    { name: "another kind", apiVersion: "apps/v1", kind: "ReplicaSet", is: false },
  ])("is to a kind by its group and not by its version: $name", ({ apiVersion, kind, is }) => {
    expect(isReferenceTo({ group: "apps", kind: "Deployment" }, { apiVersion, kind })).toBe(is);
  });

  it("finds no owner in an object without owner references", () => {
    expect([controllerOf({}), isOwnedBy({}, "1234"), isControlledBy({ metadata: {} }, "1234")]).toEqual([
      undefined,
      false,
      false,
    ]);
  });
});
