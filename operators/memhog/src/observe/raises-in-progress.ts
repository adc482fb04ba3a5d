// Counts the slots that the raises of other apps take (D3, T2). The cache shows stored intents with a delay, so several apps that are
// evaluated concurrently could each take the last free slot. Therefore each decision is recorded here immediately. A recorded decision
// takes precedence over the cache, because only the decision knows which stored intents are frozen (paused, or annotated "false").
import { keyOf, type ObjectRef, refOf, type Stored } from "@memhog/runtime";
import type { CacheReader } from "@memhog/runtime/controller";
import { parseTime } from "@memhog/runtime/objects";
import type { AppMemory } from "../api/app-memory.ts";
import { isUnderWay, takesSlot } from "../decide/methods.ts";
import type { ObservedApp, SlotsTaken } from "../model/observed-app.ts";
import type { Intent } from "../model/plan.ts";
import { memoriesUnderWay } from "./kinds.ts";

type Slot = Pick<Intent, "limitsApplied" | "atMs"> & { readonly waiting?: object };
interface Noted {
  readonly namespace: string;
  readonly slots: readonly Slot[];
}

export class RaisesInProgress {
  /** By the key of the AppMemory. Includes apps whose intents take no slot. */
  readonly #noted = new Map<string, Noted>();

  /** Replaces the recorded intents of an app. */
  note(ref: ObjectRef, seen: ObservedApp, intents: readonly Intent[]): void {
    const slots = intents.filter((intent) => takesSlot(seen, intent));
    if (intents.length === 0) this.forget(ref);
    else this.#noted.set(keyOf(ref), { namespace: ref.namespace ?? "", slots });
  }

  forget(ref: ObjectRef): void {
    this.#noted.delete(keyOf(ref));
  }

  /** The slots taken by all other apps. */
  elsewhere(ref: ObjectRef, cached: Pick<CacheReader, "lookup">, nowMs: number): SlotsTaken {
    const all = new Map(this.#noted);
    for (const memory of cached.lookup(memoriesUnderWay, "under way")) {
      const key = keyOf(refOf(memory));
      if (!all.has(key)) all.set(key, { namespace: memory.metadata.namespace ?? "", slots: slotsIn(memory) });
    }
    all.delete(keyOf(ref));
    const byNamespace = new Map<string, number>();
    for (const { namespace, slots } of all.values()) {
      const count = slots.filter((slot) => isUnderWay(slot, nowMs)).length;
      if (count > 0) byNamespace.set(namespace, (byNamespace.get(namespace) ?? 0) + count);
    }
    const own = ref.namespace ?? "";
    return {
      namespace: byNamespace.get(own) ?? 0,
      cluster: [...byNamespace.values()].reduce((sum, count) => sum + count, 0),
      otherNamespaces: byNamespace.size - (byNamespace.has(own) ? 1 : 0),
    };
  }
}

/** The stored intents are untrusted. A malformed time counts as long ago. */
function slotsIn({ status }: Stored<AppMemory>): readonly Slot[] {
  return (status?.intents ?? []).map(({ limitsApplied, waiting, at }) => ({
    ...(limitsApplied !== undefined && { limitsApplied }),
    ...(waiting !== undefined && { waiting }),
    atMs: parseTime(at) ?? 0,
  }));
}
