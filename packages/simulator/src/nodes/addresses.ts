// Addresses for pods: each node has 254 of its own, hands them out in turn, and takes them back.
import type { Addresses } from "./pod-tools.ts";

const perNode = 254;

/** 10.244.0.2 … of the first node, 10.244.1.2 … of the second; 10.245.0.2 … of the 257th. */
export function podAddresses(nodeIndex: number): Addresses {
  const prefix = `10.${244 + (nodeIndex >> 8)}.${nodeIndex & 255}`;
  const taken = new Map<string, number>();
  let last = 0;
  return {
    take(uid) {
      const known = taken.get(uid);
      if (known !== undefined) return `${prefix}.${known + 1}`;
      const used = new Set(taken.values());
      if (used.size >= perNode - 1) throw new RangeError(`expected a free address in ${prefix}.0/24, found none`);
      do last = (last % (perNode - 1)) + 1;
      while (used.has(last));
      taken.set(uid, last);
      return `${prefix}.${last + 1}`;
    },
    giveBack: (uid) => void taken.delete(uid),
  };
}
