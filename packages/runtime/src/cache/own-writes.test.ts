import { describe, expect, it } from "vitest";
import type { KubernetesObject, Stored } from "../objects/object.ts";
import { isReached, type Mark, type Progress } from "./own-writes.ts";

const ref = { namespace: "home", name: "a" };
const written: Mark = { type: "written", ref, uid: "u", resourceVersion: "10", listingsBegun: 1 };
const opaque: Mark = { ...written, resourceVersion: "etag-x" };
const deleted: Mark = { type: "deleted", ref, uid: "u", listingsBegun: 1 };
const unknown: Mark = { type: "unknown", ref, listingsBegun: 1 };

function stored(resourceVersion: string, more: { uid?: string; deletionTimestamp?: string } = {}): Stored<KubernetesObject> {
  return { metadata: { ...ref, uid: "u", resourceVersion, ...more } };
}

const cases: {
  name: string;
  mark: Mark;
  seen: { there?: Stored<KubernetesObject>; position?: string; listingDone?: number };
  expected: boolean;
}[] = [
  {
    name: "a write is not reached while the cache has the state before",
    mark: written,
    seen: { there: stored("9"), position: "9" },
    expected: false,
  },
  { name: "a write is reached by its own event", mark: written, seen: { there: stored("10"), position: "10" }, expected: true },
  { name: "a write is reached by any later event of the kind", mark: written, seen: { position: "11" }, expected: true },
  {
    name: "a write that changed nothing is reached at once",
    mark: written,
    seen: { there: stored("10"), position: "9" },
    expected: true,
  },
  {
    name: "a namesake of another UID does not count",
    mark: written,
    seen: { there: stored("11", { uid: "v" }), position: "9" },
    expected: false,
  },
  {
    name: "an opaque version is reached by the very same",
    mark: opaque,
    seen: { there: stored("etag-x"), position: "etag-x" },
    expected: true,
  },
  {
    name: "an opaque version is not reached by another",
    mark: opaque,
    seen: { there: stored("etag-z"), position: "etag-z" },
    expected: false,
  },
  { name: "anything is reached by a listing that began later", mark: opaque, seen: { listingDone: 2 }, expected: true },
  { name: "nothing is reached by a listing that had begun before", mark: unknown, seen: { listingDone: 1 }, expected: false },
  {
    name: "an unknown outcome is not reached by events",
    mark: unknown,
    seen: { there: stored("99"), position: "99" },
    expected: false,
  },
  { name: "a deletion is not reached while the object is there", mark: deleted, seen: { there: stored("9") }, expected: false },
  { name: "a deletion is reached when the object is gone", mark: deleted, seen: {}, expected: true },
  {
    name: "a deletion is reached when the object is on its way out",
    mark: deleted,
    seen: { there: stored("11", { deletionTimestamp: "now" }) },
    expected: true,
  },
  {
    name: "W4: a deletion is reached when a namesake is there",
    mark: deleted,
    seen: { there: stored("12", { uid: "v" }) },
    expected: true,
  },
];

describe("our own writes", () => {
  it.each(cases)("$name", ({ mark, seen, expected }) => {
    const progress: Progress = { get: () => seen.there, position: seen.position, listingDone: seen.listingDone ?? 1 };
    expect(isReached(mark, progress)).toBe(expected);
  });
});
