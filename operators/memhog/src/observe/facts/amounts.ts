// Quantities as they stand in objects that others write. A projection runs on every object of a cluster and may not throw on a
// single odd one (promise E3), so what is no amount of memory is treated like none.
import type { ResourceList } from "@memhog/runtime";
import { type Bytes, bytesOf } from "../../model/bytes.ts";

/** The memory in a list of resources; undefined where there is none, or none that can be read. */
export function memoryIn(list: ResourceList | undefined, name = "memory"): Bytes | undefined {
  const quantity = list?.[name];
  if (quantity === undefined) return undefined;
  try {
    return bytesOf(quantity);
  } catch {
    return undefined;
  }
}
