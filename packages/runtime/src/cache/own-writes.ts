// Read your own writes (architecture, rule 5; promise W1). A cache is a little behind the server, so a reconciler that
// looks into it right after writing sees the world without its own deed, and does it again. Therefore every write leaves
// a mark, and the key that wrote is not reconciled again before the cache has reached all of its marks.
//
//     written   the server answered with a version: reached when the cache has seen that version or a newer one. Any
//               event or bookmark of the kind counts, since versions of one kind have one order (see versions.ts); of
//               versions without an order only the very same one counts.
//     deleted   reached when the object with that UID is gone or is seen to be on its way out.
//     unknown   the answer was lost (promise C2): nothing but a listing that began after the write can tell.
//
// A listing that began after the write reaches every mark. So waiting never ends in hope: if a mark is overdue (the write
// was of an object that the selection leaves out, the watch is dead), the cache lists again.
import type { KubernetesObject, ObjectRef, Stored } from "../objects/object.ts";
import { compareVersions, isAtLeast } from "./versions.ts";

/** What has to be seen before the next look counts. */
export type Mark = {
  readonly ref: ObjectRef;
  /** The listings that had begun when the write ended; a later one surely contains it. */
  readonly listingsBegun: number;
} & (
  | { readonly type: "written"; readonly uid: string; readonly resourceVersion: string }
  | { readonly type: "deleted"; readonly uid: string }
  | { readonly type: "unknown" }
);

/** How far a cache has come. */
export interface Progress {
  get(ref: ObjectRef): Stored<KubernetesObject> | undefined;
  /** The newest version that the watch has told of. */
  readonly position: string | undefined;
  /** The number of the newest listing that is complete; they are counted when they begin. */
  readonly listingDone: number;
}

export function isReached(mark: Mark, progress: Progress): boolean {
  if (progress.listingDone > mark.listingsBegun) return true;
  if (mark.type === "unknown") return false;
  const there = progress.get(mark.ref)?.metadata;
  if (mark.type === "deleted") return there?.uid !== mark.uid || there.deletionTimestamp !== undefined;
  if (progress.position !== undefined && isAtLeast(progress.position, mark.resourceVersion)) return true;
  // A write that changed nothing answers with the version that is in the cache already, or was passed long ago.
  return there?.uid === mark.uid && (compareVersions(there.resourceVersion ?? "", mark.resourceVersion) ?? -1) >= 0;
}
