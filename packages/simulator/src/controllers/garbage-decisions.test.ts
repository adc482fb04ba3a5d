import { ConfigMap } from "@memhog/runtime";
import type { OwnerReference } from "@memhog/runtime/objects";
import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideDependent, decideOwner, foreground, type OwnerState, orphan, stateOf } from "./garbage-decisions.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const reference = (uid: string, blockOwnerDeletion = true): OwnerReference => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", name: uid, uid },
  blockOwnerDeletion,
});
const object = (metadata = {}) => anObject(ConfigMap, { metadata });
const owned = (...states: OwnerState[]) => states.map((state, at) => ({ reference: reference(`owner-${at}`), state }));

describe("an object with owners", () => {
  const cases = [
    { name: "stays while its owner exists", owners: owned("there"), decision: { kind: "keep" } },
    { name: "stays without owners", owners: [], decision: { kind: "keep" } },
    {
      name: "is deleted with its last owner",
      owners: owned("gone", "gone"),
      decision: { kind: "delete", propagationPolicy: "Background" },
    },
    {
      name: "loses the reference to a deleted owner while another exists",
      owners: owned("gone", "there"),
      decision: { kind: "release", from: ["owner-0"] },
    },
    {
      name: "loses the reference to a waiting owner while another exists",
      owners: owned("there", "waiting"),
      decision: { kind: "release", from: ["owner-1"] },
    },
    {
      name: "is deleted before an owner that waits for it",
      owners: owned("waiting"),
      decision: { kind: "delete", propagationPolicy: "Background" },
    },
    {
      name: "is deleted after its own dependents if its owner waits",
      owners: owned("waiting"),
      ownsOthers: true,
      decision: { kind: "delete", propagationPolicy: "Foreground" },
    },
    { name: "is not deleted twice", metadata: { deletionTimestamp }, owners: owned("gone"), decision: { kind: "keep" } },
    {
      name: "keeps its own propagation policy",
      metadata: { finalizers: [orphan] },
      owners: owned("gone"),
      decision: { kind: "delete", propagationPolicy: "Orphan" },
    },
  ];
  it.each(cases)("$name", ({ metadata, owners, ownsOthers = false, decision }) => {
    expect(decideDependent(object(metadata), owners, ownsOthers)).toEqual(decision);
  });
});

describe("an owner", () => {
  const owner = (...finalizers: string[]) => object({ uid: "owner", finalizers, deletionTimestamp });
  const dependent = (metadata = {}) => object({ ownerReferences: [reference("owner")], ...metadata });

  it("that is not being deleted requires nothing", () => {
    expect(decideOwner(object({ finalizers: [foreground] }), [dependent()])).toEqual({ kind: "nothing" });
  });

  it("that is deleted in the background requires nothing", () => {
    expect(decideOwner(owner("example.com/mine"), [dependent()])).toEqual({ kind: "nothing" });
  });

  it("in foreground deletion waits for blocking dependents", () => {
    expect(decideOwner(owner(foreground), [dependent()])).toEqual({ kind: "collect", visit: [dependent()], blocked: true });
  });

  it("in foreground deletion does not wait for other dependents", () => {
    const free = dependent({ ownerReferences: [reference("owner", false)] });
    expect(decideOwner(owner(foreground), [free])).toEqual({ kind: "collect", visit: [free], blocked: false });
  });

  it("in foreground deletion waits for dependents that are already being deleted, and does not delete them again", () => {
    expect(decideOwner(owner(foreground), [dependent({ deletionTimestamp })])).toEqual({
      kind: "collect",
      visit: [],
      blocked: true,
    });
  });

  it("that orphans its dependents has its references removed", () => {
    expect(decideOwner(owner(orphan), [dependent()])).toEqual({ kind: "orphan", release: [dependent()] });
  });

  it("is gone if another object has its name", () => {
    expect(stateOf(object({ uid: "second" }), "first")).toBe("gone");
    expect(stateOf(undefined, "first")).toBe("gone");
    expect(stateOf(owner(foreground), "owner")).toBe("waiting");
    expect(stateOf(owner("example.com/mine"), "owner")).toBe("there");
  });
});
