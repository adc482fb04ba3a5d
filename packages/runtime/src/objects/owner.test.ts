import { describe, expect, it } from "vitest";
import { Deployment } from "./kinds/apps.ts";
import { Pod } from "./kinds/core/pod.ts";
import { controllerOf, isControlledBy, isOwnedBy, isReferenceTo, ownerReferenceTo } from "./owner.ts";

const web = { metadata: { name: "web", uid: "1234" } };
const reference = ownerReferenceTo(web, Deployment);
const onlooker = { ...reference, uid: "5678", controller: false };
const child = { metadata: { ownerReferences: [onlooker, reference] } };

describe("ownership", () => {
  it("is by UID, with the owner in charge", () => {
    expect(reference).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      name: "web",
      uid: "1234",
      controller: true,
      blockOwnerDeletion: true,
    });
  });

  it("spells the core group as the API does", () => expect(ownerReferenceTo(web, Pod).apiVersion).toBe("v1"));

  it("can be without charge", () => {
    expect(ownerReferenceTo(web, Pod, { controller: false, blockOwnerDeletion: false })).toMatchObject({
      controller: false,
      blockOwnerDeletion: false,
    });
  });

  it("knows who is in charge among several owners", () => {
    expect(controllerOf(child)).toBe(reference);
    expect([isControlledBy(child, "1234"), isControlledBy(child, "5678")]).toEqual([true, false]);
  });

  it("knows all owners", () => {
    expect(["1234", "5678", "9999"].map((uid) => isOwnedBy(child, uid))).toEqual([true, true, false]);
  });

  it.each([
    { name: "another version of the kind", apiVersion: "apps/v1beta1", kind: "Deployment", is: true },
    { name: "another group", apiVersion: "example.com/v1", kind: "Deployment", is: false },
    { name: "a group that begins like it", apiVersion: "apps.example.com/v1", kind: "Deployment", is: false },
    { name: "the core group", apiVersion: "v1", kind: "Deployment", is: false },
    { name: "another kind", apiVersion: "apps/v1", kind: "ReplicaSet", is: false },
  ])("is to a kind by its group and not by its version: $name", ({ apiVersion, kind, is }) => {
    expect(isReferenceTo({ group: "apps", kind: "Deployment" }, { apiVersion, kind })).toBe(is);
  });

  it("finds no owner where there is none", () => {
    expect([controllerOf({}), isOwnedBy({}, "1234"), isControlledBy({ metadata: {} }, "1234")]).toEqual([
      undefined,
      false,
      false,
    ]);
  });
});
