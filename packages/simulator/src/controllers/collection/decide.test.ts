import { ConfigMap, type OwnerReference } from "@memhog/runtime";
import { anObject } from "@memhog/runtime/testing";
import { describe, expect, it } from "vitest";
import { decideDependent, decideOwner, foreground, type OwnerState, orphan, stateOf } from "./decide.ts";

const deletionTimestamp = "2026-01-01T00:00:00Z";
const reference = (uid: string, blockOwnerDeletion = true): OwnerReference => ({
  ...{ apiVersion: "v1", kind: "ConfigMap", name: uid, uid },
  blockOwnerDeletion,
});
const object = (metadata = {}) => anObject(ConfigMap, { metadata });
const owned = (...states: OwnerState[]) => states.map((state, at) => ({ reference: reference(`owner-${at}`), state }));

describe("what has owners", () => {
  const cases = [
    { name: "stays while its owner is there", owners: owned("there"), decision: { kind: "keep" } },
    { name: "stays if it has none", owners: [], decision: { kind: "keep" } },
    {
      name: "goes with its last owner",
      owners: owned("gone", "gone"),
      decision: { kind: "delete", propagationPolicy: "Background" },
    },
    {
      name: "forgets an owner that is gone while another is there",
      owners: owned("gone", "there"),
      decision: { kind: "release", from: ["owner-0"] },
    },
    {
      name: "forgets an owner that waits while another is there",
      owners: owned("there", "waiting"),
      decision: { kind: "release", from: ["owner-1"] },
    },
    {
      name: "goes before an owner that waits for it",
      owners: owned("waiting"),
      decision: { kind: "delete", propagationPolicy: "Background" },
    },
    {
      name: "goes after what it owns itself if its owner waits",
      owners: owned("waiting"),
      ownsOthers: true,
      decision: { kind: "delete", propagationPolicy: "Foreground" },
    },
    { name: "is not asked twice", metadata: { deletionTimestamp }, owners: owned("gone"), decision: { kind: "keep" } },
    {
      name: "keeps the wish written on it",
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

  it("that is not being deleted wants nothing", () => {
    expect(decideOwner(object({ finalizers: [foreground] }), [dependent()])).toEqual({ kind: "nothing" });
  });

  it("that goes in the background wants nothing", () => {
    expect(decideOwner(owner("example.com/mine"), [dependent()])).toEqual({ kind: "nothing" });
  });

  it("in the foreground waits for those that block it", () => {
    expect(decideOwner(owner(foreground), [dependent()])).toEqual({ kind: "collect", visit: [dependent()], blocked: true });
  });

  it("in the foreground does not wait for those that do not block it", () => {
    const free = dependent({ ownerReferences: [reference("owner", false)] });
    expect(decideOwner(owner(foreground), [free])).toEqual({ kind: "collect", visit: [free], blocked: false });
  });

  it("in the foreground waits for what is going already, and does not ask again", () => {
    expect(decideOwner(owner(foreground), [dependent({ deletionTimestamp })])).toEqual({
      kind: "collect",
      visit: [],
      blocked: true,
    });
  });

  it("that orphans has itself forgotten", () => {
    expect(decideOwner(owner(orphan), [dependent()])).toEqual({ kind: "orphan", release: [dependent()] });
  });

  it("is gone if another object has its name", () => {
    expect(stateOf(object({ uid: "second" }), "first")).toBe("gone");
    expect(stateOf(undefined, "first")).toBe("gone");
    expect(stateOf(owner(foreground), "owner")).toBe("waiting");
    expect(stateOf(owner("example.com/mine"), "owner")).toBe("there");
  });
});
