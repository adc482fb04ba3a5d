// How a command can end. Most endings are normal: the world moved while we thought, somebody said not now, somebody said no. They
// are values; reconcile.ts stores what must not be forgotten (`withEndings`) and the next reconcile reads the world afresh. Nothing
// is ever assumed about a call that was not answered (promise C2).
//
// What the server says about a refusal is shown to people, in Events and in AppMemory.status. Mind what that may be: for a field
// that may not change, Kubernetes answers with the whole pod before and after, environment variables included. So of an Invalid
// only the names of fields are told, and of a Forbidden the sentence (quota, LimitRange and RBAC speak there), without anything that
// looks like a credential (promise S4).
import {
  AlreadyExistsError,
  ApiError,
  ConflictError,
  ForbiddenError,
  InvalidError,
  type NarrowedClient,
  NotFoundError,
  TooManyRequestsError,
  TransportError,
  UnauthorizedError,
} from "@memhog/runtime";
import type { Command } from "../model/plan.ts";
import type { AppRecord } from "../model/record.ts";
import type { rightsToAct } from "./rights.ts";

/** A client that can do what acting may, and nothing else; the one in the reconciler's context is one. */
export type Server = Pick<NarrowedClient<typeof rightsToAct>, "find" | "create" | "update" | "patch" | "apply" | "delete">;

export interface Ending {
  /**
   * done: accepted, or it was so already. changed: not what was decided about any more; read and decide again. gone: the object is
   * no more. stopped: somebody does not want it any more. waits: not now. infeasible: never on this node. refused: not until
   * something changes. unknown: there was no answer.
   */
  readonly ended: "done" | "changed" | "gone" | "stopped" | "waits" | "infeasible" | "refused" | "unknown";
  /** For people. */
  readonly detail: string;
  /**
   * To be thrown once everything is reported: the loop looks again, at once after a conflict ("changed"), with back-off where there
   * was no answer ("unknown"). Samples would wake it too, but they come every 15 s, and somebody is running out of memory.
   */
  readonly error?: Error;
}

export type CommandOutcome = Ending & { readonly command: Command };

/** What it means that a call failed thus. What is no answer about the command, such as the end of the reconcile, is thrown on. */
export function endingOf(error: unknown): Ending {
  const known = error instanceof ApiError ? answerOf(error) : undefined;
  if (known !== undefined) return known;
  const answered = error instanceof ApiError && !(error instanceof UnauthorizedError);
  if (error instanceof TransportError || answered) return { ended: "unknown", detail: error.code, error };
  throw error;
}

function answerOf(error: ApiError): Ending | undefined {
  if (error instanceof ConflictError) return { ended: "changed", detail: "it changed in the meantime", error };
  if (error instanceof AlreadyExistsError) return { ended: "changed", detail: "it is there already" };
  if (error instanceof NotFoundError) return missing(error);
  if (error instanceof TooManyRequestsError) return { ended: "waits", detail: notNow(error) };
  if (error instanceof InvalidError) return invalid(error);
  if (error instanceof ForbiddenError) return forbidden(error);
  return severalBudgets(error);
}

/** Where it names no object it is the door that is missing, such as pods/resize before Kubernetes 1.33. */
function missing({ details: { name } }: ApiError): Ending {
  if (name === undefined) return { ended: "refused", detail: "the API server does not serve this" };
  return { ended: "gone", detail: `${name} is gone` };
}

function notNow({ causes }: ApiError): string {
  const budget = causes.find(({ reason }) => reason === "DisruptionBudget");
  return budget === undefined ? "the API server is busy" : `PodDisruptionBudget: ${harmless(budget.message ?? "not now")}`;
}

function invalid({ causes, message }: ApiError): Ending {
  const fields = causes.map(({ field, reason }) => `${field ?? "it"} (${reason ?? "invalid"})`);
  // A UID that is another: the pod we meant has gone, and a namesake took its place.
  if (causes.some(({ field }) => field === "metadata.uid")) return { ended: "changed", detail: "it is another pod by now" };
  const qos = message.includes("QOS Class may not change") ? "the QoS class may not change: " : "";
  return { ended: "refused", detail: `${qos}${[...new Set(fields)].slice(0, 5).join(", ") || "invalid"}` };
}

function forbidden(error: ForbiddenError): Ending {
  const never = error.causes.some(({ reason }) => reason === "NodeCapacity");
  return { ended: never ? "infeasible" : "refused", detail: harmless(sentenceOf(error)) };
}

function severalBudgets(error: ApiError): Ending | undefined {
  if (!error.message.includes("more than one PodDisruptionBudget")) return undefined;
  return { ended: "refused", detail: "more than one PodDisruptionBudget covers the pod" };
}

/** The server's own words, without what we wanted of it. */
function sentenceOf({ message }: Error): string {
  return message.replace(/^.*?: the server answered \d+( \w+)?: /s, "");
}

const looksSecret = /\bBearer\s+\S+|\beyJ[\w-]{8,}\.[\w.-]+|\b(password|passwd|token|secret|api[_-]?key)\b\s*[=:]\s*\S+/gi;

function harmless(sentence: string): string {
  return sentence.replace(looksSecret, "[hidden]").slice(0, 400);
}

/** The record with what must not be tried again at once, or must be told. The same record if there is nothing to add. */
export function withEndings(record: AppRecord, outcomes: readonly CommandOutcome[]): AppRecord {
  const waiting = new Map(outcomes.flatMap(({ command, ...ending }) => waitingFor(command, ending)));
  const intents = record.intents.map((intent) => {
    const why = waiting.get(intent.id);
    return why === undefined || why === intent.waitingFor ? intent : { ...intent, waitingFor: why };
  });
  return intents.every((intent, at) => intent === record.intents[at]) ? record : { ...record, intents };
}

// That a budget says "not now" is not stored: it is asked again with the next samples, and would be a write each time (E1).
const words: Partial<Record<Ending["ended"], string>> = { refused: "Refused: ", infeasible: "Infeasible: " };

function waitingFor({ intent }: Command, { ended, detail }: Ending): readonly (readonly [string, string])[] {
  const word = words[ended];
  return word === undefined ? [] : [[intent.id, `${word}${detail}`]];
}
