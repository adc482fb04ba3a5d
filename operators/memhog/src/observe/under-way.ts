// How many raises other apps have under way, for the bound across the cluster (promise D3). What is stored is in the cache, a
// moment late; several apps are looked at at the same time, and in that moment each of them would take the last free place. So
// whoever decides notes it here at once, and the larger of the two counts for each app.
import { type CachedObjects, keyOf, type ObjectRef, refOf } from "@memhog/runtime";
import { memoriesUnderWay } from "./kinds.ts";

/** An intent, as a value or as it is stored. */
interface Open {
  readonly limitsApplied?: boolean | undefined;
  readonly waitingFor?: string | undefined;
}

export class UnderWay {
  /** By the key of the AppMemory: what the last plan left open. Apps with nothing are missing. */
  readonly #noted = new Map<string, number>();

  /** These are the intents of this app now. */
  note(ref: ObjectRef, intents: readonly Open[]): void {
    const count = busy(intents);
    if (count === 0) this.#noted.delete(keyOf(ref));
    else this.#noted.set(keyOf(ref), count);
  }

  /** Raises of all apps but this one. */
  elsewhere(ref: ObjectRef, cached: Pick<CachedObjects, "lookup">): number {
    const counts = new Map(this.#noted);
    for (const memory of cached.lookup(memoriesUnderWay, "under way")) {
      const key = keyOf(refOf(memory));
      counts.set(key, Math.max(counts.get(key) ?? 0, busy(memory.status?.intents ?? [])));
    }
    counts.delete(keyOf(ref));
    return [...counts.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** What waits for room or for a person does not stand in anybody's way. */
const busy = (intents: readonly Open[]) =>
  intents.filter(({ limitsApplied, waitingFor }) => !limitsApplied && !waitingFor).length;
