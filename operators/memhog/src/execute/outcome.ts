// How a command can end. Most endings are normal: the object changed meanwhile, a PodDisruptionBudget says not now, a quota says no.
// They are values. reconcile.ts stores those that must survive a restart (`withEndings`), and the next reconcile reads everything
// again. A call without an answer has an unknown outcome and is never assumed to have failed (C2).
//
// Server messages reach people through Events and AppMemory.status, and they can contain secrets: for an immutable field the API
// server prints the whole pod, environment variables included, and an admission webhook can quote anything. So only the names of
// fields are repeated there. What the API server itself says about quotas, LimitRanges and RBAC is repeated, cut and without anything
// that looks like a credential (S4). docs/decisions/0010-server-messages.md has the reasons.
import { AlreadyExistsError, ApiError, ConflictError, NotFoundError, type ObjectRef, Pod, type Stored } from "@memhog/runtime";
import {
  ForbiddenError,
  fieldsIn,
  InvalidError,
  TooManyRequestsError,
  TransportError,
  UnauthorizedError,
} from "@memhog/runtime/client";
import { equals, oneLine, withoutCredentials } from "@memhog/runtime/objects";
import type { RestrictedClient } from "@memhog/runtime/schema";
import { monitorAnnotation } from "../api/names.ts";
import type { AppRecord, Command, Waiting } from "../model/plan.ts";
import type { ActionCause, WaitReason } from "../model/reasons.ts";
import type { writePermissions } from "./execute.ts";

/** A client that is restricted to `writePermissions`. */
export type Server = Pick<RestrictedClient<typeof writePermissions>, "find" | "create" | "update" | "patch" | "apply" | "delete">;

export interface Ending {
  /**
   * done: accepted, or nothing to change. changed: the object is not what the decision was based on; read and decide again.
   * gone: the object no longer exists. stopped: a person stopped it. waits: not now. infeasible: never on this node. refused: not
   * until something changes. unknown: there was no answer.
   */
  readonly outcome: "done" | "changed" | "gone" | "stopped" | "waits" | "infeasible" | "refused" | "unknown";
  /** Stored with the record, because later decisions depend on it. */
  readonly cause?: ActionCause;
  /** For people; no decision depends on it. */
  readonly message: string;
  /** The text of an admission webhook, for the log at -v 4: it can quote the pod. */
  readonly serverMessage?: string;
  /** Of the copy that was made: it is stored, and no other pod is believed to be the copy. */
  readonly copyUid?: string;
  /**
   * Thrown once everything is reported, so that the key is requeued: at once after a conflict ("changed"), with back-off if there
   * was no answer ("unknown"). The next sample would do so too, but up to 15 s later.
   */
  readonly error?: Error;
}

export type CommandOutcome = Ending & { readonly command: Command };

/** How a failed call ends its command. Rethrows errors that say nothing about the command, such as an aborted reconcile. */
export function endingOf(error: unknown): Ending {
  const known = error instanceof ApiError ? answerOf(error) : undefined;
  if (known !== undefined) return known;
  const answered = error instanceof ApiError && !(error instanceof UnauthorizedError);
  if (error instanceof TransportError || answered) return { outcome: "unknown", message: error.code, error };
  throw error;
}

function answerOf(error: ApiError): Ending | undefined {
  if (error instanceof ConflictError) return { outcome: "changed", message: "it changed in the meantime", error };
  if (error instanceof AlreadyExistsError) return { outcome: "changed", message: "it is there already" };
  if (error instanceof NotFoundError) return missing(error);
  if (error instanceof TooManyRequestsError) return { outcome: "waits", message: notNow(error) };
  if (error instanceof InvalidError) return invalid(error);
  return error instanceof ForbiddenError ? forbidden(error) : undefined;
}

/** Without the name of an object, the endpoint itself is missing, such as pods/resize before Kubernetes 1.33. */
function missing({ details: { name } }: ApiError): Ending {
  if (name === undefined) return { outcome: "refused", message: "the API server does not serve this" };
  return { outcome: "gone", message: `${name} is gone` };
}

function notNow({ causes }: ApiError): string {
  const budget = causes.find(({ reason }) => reason === "DisruptionBudget");
  return budget === undefined ? "the API server is busy" : `PodDisruptionBudget: ${harmless(budget.message ?? "not now")}`;
}

function invalid({ causes }: ApiError): Ending {
  // The precondition on the UID failed: another pod of the same name has taken the place of this one.
  if (causes.some(({ field }) => field === "metadata.uid"))
    return { outcome: "changed", message: "another pod has the same name now" };
  return { outcome: "refused", message: fieldsIn(causes) || "invalid" };
}

function forbidden(error: ForbiddenError): Ending {
  const never = error.causes.some(({ reason }) => reason === "NodeCapacity");
  // Only the API server's own code names the resource. A webhook's text is logged at -v 4.
  const isOwn = error.details.kind !== undefined;
  const message = isOwn ? harmless(error.serverMessage) : "denied by an admission webhook; the operator logs its message at -v 4";
  return { outcome: never ? "infeasible" : "refused", message, ...(!isOwn && { serverMessage: harmless(error.serverMessage) }) };
}

/** The message of a server without anything that looks like a credential. */
export function harmless(sentence: string): string {
  return withoutCredentials(oneLine(sentence, 400));
}

/** The record with the endings that hold an intent back. Returns the same record if there are none. */
export function withEndings(record: AppRecord, outcomes: readonly CommandOutcome[]): AppRecord {
  const waiting = new Map(outcomes.flatMap(({ command, ...ending }) => waitingAfter(command, ending)));
  const copies = new Map(outcomes.flatMap(({ command, copyUid }) => (copyUid ? [[command.intent.id, copyUid] as const] : [])));
  const intents = record.intents.map((intent) => {
    const why = waiting.get(intent.id);
    const copyUid = copies.get(intent.id);
    if (copyUid !== undefined && copyUid !== intent.copyUid) return { ...intent, copyUid };
    return why === undefined || equals(why, intent.waiting) ? intent : { ...intent, waiting: why };
  });
  return intents.every((intent, at) => intent === record.intents[at]) ? record : { ...record, intents };
}

// "waits" is not stored: the budget is asked again with the next samples, and each answer would be a write (E1).
const waitingOf: Partial<Record<Ending["outcome"], WaitReason>> = { refused: "Refused", infeasible: "ResizeInfeasible" };

function waitingAfter({ intent }: Command, { outcome, cause, message }: Ending): readonly (readonly [string, Waiting])[] {
  const reason = cause === "NameTaken" ? cause : waitingOf[outcome];
  return reason === undefined ? [] : [[intent.id, { reason, message }]];
}

/**
 * The live read before a pod is changed, since caches may be stale: is it still the same pod, monitored, and not being deleted?
 * (E4, W1, W4). Returns the pod, or why it is left alone.
 */
export async function livePod(
  server: Server,
  ref: ObjectRef,
  uid: string,
  { monitored = true }: { /** It must have the annotation. @default true */ readonly monitored?: boolean } = {},
): Promise<Stored<Pod> | Ending> {
  const pod = await server.find(Pod, ref);
  return pod === undefined ? { outcome: "gone", message: `pod ${ref.name} is gone` } : (whyNot(pod, uid, monitored) ?? pod);
}

function whyNot({ metadata }: Stored<Pod>, uid: string, monitored: boolean): Ending | undefined {
  const { name, annotations } = metadata;
  if (metadata.uid !== uid) return { outcome: "gone", message: `pod ${name} was replaced by another pod of the same name` };
  if (metadata.deletionTimestamp !== undefined) return { outcome: "gone", message: `pod ${name} is being deleted` };
  if (monitored && annotations?.[monitorAnnotation] !== "true")
    return { outcome: "stopped", message: `pod ${name} is no longer monitored` };
  return undefined;
}

export function isEnding(found: Stored<Pod> | Ending): found is Ending {
  return "outcome" in found;
}

/** The version is not the one that the decision was based on: what the server would have answered to the write. */
export function changed(name: string): Ending {
  const message = `${name} changed in the meantime`;
  const error = new ConflictError({ attempt: `act on ${name}`, status: 409, reason: "Conflict", message });
  return { outcome: "changed", message, error };
}

export function alreadySo(name: string): Ending {
  return { outcome: "done", message: `${name} has it already` };
}

export function done(message: string): Ending {
  return { outcome: "done", message };
}
