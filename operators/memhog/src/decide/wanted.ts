// What a policy asks for. One step at a time, from what the container has now: where the trend says that even this will not be
// enough, the next step follows when it is due, and the brakes see each of them.
import { type Bytes, bytes, larger, smaller, times } from "../model/bytes.ts";
import type { Learned, Memory } from "../model/record.ts";
import type { Facts } from "./facts.ts";

/** Nobody has 4 PiB; beyond it numbers of bytes are not exact any more. */
const mostOfAll = bytes(2 ** 52);

/**
 * memMultiplier times request and limit: 256Mi/384Mi × 2 = 512Mi/768Mi; × 1.5 = 384Mi/576Mi. A new pod that the app is known to be
 * too small for goes all the way at once: otherwise one need would raise it twice.
 */
export function oneStepUp(facts: Facts): Memory {
  const { has, policy } = facts;
  const step = { limit: grown(has.limit, policy.multiplier), request: has.request && grown(has.request, policy.multiplier) };
  return keeping(facts, atLeast(step, learnedFor(facts)));
}

/** What the app was seen to need. */
export function asLearned(facts: Facts, learned: Learned): Memory {
  return keeping(facts, atLeast(facts.has, learned));
}

/** What this pod should have started with: it was made after we knew. Pods that were there before are left alone. */
export function learnedFor({ seen, pod, container, has }: Facts): Learned | undefined {
  const learned = seen.record.learned.find((each) => each.container === container.name);
  return learned !== undefined && learned.limit > has.limit && pod.createdAtMs > learned.atMs ? learned : undefined;
}

function atLeast({ limit, request }: Memory, learned: Learned | undefined): Memory {
  if (learned === undefined) return { limit, request };
  return { limit: larger(limit, learned.limit), request: request && larger(request, learned.request ?? request) };
}

/**
 * The QoS class stays what it is, and the request is never above the limit. Beside an HPA by memory utilisation the request is
 * left alone: it is what that HPA divides by, and a larger one would make it remove replicas.
 */
function keeping({ seen, pod, has }: Facts, { limit, request }: Memory): Memory {
  if (request === undefined) return { limit, request };
  if (pod.qos === "Guaranteed") return { limit, request: limit };
  return { limit, request: seen.rival?.kind === "HPA" ? has.request : smaller(request, limit) };
}

const grown = (value: Bytes, factor: number): Bytes =>
  value * factor < mostOfAll ? times(value, factor) : larger(value, mostOfAll);
