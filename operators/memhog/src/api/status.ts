// Plan → AppMemory.status: the record to be stored, and one line for people. The way back is record.ts.
//
// It is written only when something changed (promise E1), so nothing may stand in it that moves with every sample: the sentences
// with numbers in them (decision.detail, summary.message) go to logs, Events and `explain`. And where nothing is being done, the
// container that the columns speak of stays the same one as long as it is as it was; which of three idle containers is nearest to
// its limit changes by the minute, and is no news.
import { condition, type StatusOf, setCondition } from "@memhog/runtime";
import { quantityText } from "../model/bytes.ts";
import type { Plan, Summary } from "../model/plan.ts";
import { holdReasons, type Reason, raiseReasons } from "../model/reasons.ts";
import type { Action, AppRecord, Change, Intent, Memory } from "../model/record.ts";
import { AppMemory, keptActions } from "./app-memory.ts";

type Status = StatusOf<typeof AppMemory>;
type Condition = NonNullable<Status["conditions"]>[number];

/** The whole status, with what the stored one says about conditions of others and the time of the last transition. */
export function statusOf(plan: Plan, before: Status | undefined, nowMs: number): Status {
  const { phase, reason } = plan.summary;
  const conditions = setCondition<Condition>(before?.conditions, settledOf(plan.summary), nowMs);
  return { phase, reason, ...columnsOf(plan, before), ...writeRecord(plan.record), conditions };
}

function settledOf({ phase, reason, rival }: Summary) {
  const why = `${reason}: ${sentences[reason]}${rival === undefined ? "" : beside(rival)}`;
  return phase === "Watching" ? condition(AppMemory, "Settled", "AsWanted", why) : condition(AppMemory, "Settled", phase, why);
}

/** Promise F1: by name. One from whose annotations no name can be read is named by its kind. */
function beside({ name, kind }: NonNullable<Summary["rival"]>): string {
  const named = name.replace(/\/$/, "");
  return kind === "HPA" ? `; beside ${named} only limits are raised, in place` : `; ${named} sets this memory`;
}

const sentences: Readonly<Record<Reason, string>> = { ...raiseReasons, ...holdReasons };

type Columns = Pick<Status, "container" | "limit" | "wanted" | "applied">;

function columnsOf({ summary, verdicts }: Plan, before: Status | undefined): Columns {
  const now = columnsFrom(summary);
  const { container, limit, wanted, applied } = before ?? {};
  const idle = summary.phase === "Watching" && before?.phase === "Watching";
  // Of replicas one may be larger: then it is another one, although the container has the same name.
  const isAnother = now.container !== container || now.limit !== limit;
  const asItWas = verdicts.some(({ container: name, inputs }) => name === container && textOf(inputs.limit) === limit);
  if (!idle || !isAnother || !asItWas) return now;
  return { ...opt("container", container), ...opt("limit", limit), ...opt("wanted", wanted), ...opt("applied", applied) };
}

function columnsFrom({ container, limit, wanted, applied }: Summary): Columns {
  return {
    ...opt("container", container),
    ...opt("limit", textOf(limit)),
    ...opt("wanted", textOf(wanted)),
    ...opt("applied", textOf(applied)),
  };
}

type Written = Omit<Status, "phase" | "reason" | keyof Columns | "conditions" | "observedGeneration">;

/** Empty lists and zeros are left out: an object that says nothing should be short. The newest entries stay where a list is full. */
function writeRecord(record: AppRecord): Written {
  return {
    ...list("learned", record.learned, 40, ({ container, atMs, ...memory }) => ({
      container,
      ...writeMemory(memory),
      at: time(atMs),
    })),
    ...list("intents", mostOpenLast(record.intents), keptIntents, writeIntent),
    ...list("actions", record.actions, keptActions, writeAction),
    ...list("kills", record.kills, 500, ({ uid, container, restart }) => ({ uid, container, restart })),
    ...list("given", record.given, 500, ({ uid, container, limit }) => ({ uid, container, limit: quantityText(limit) })),
    ...count("reverts", record.reverts),
    ...list("stops", record.stops, 100, ({ atMs, ...stop }) => ({ ...stop, at: time(atMs) })),
    ...count("raises", record.raises),
    ...count("oomKills", record.oomKills),
  };
}

const keptIntents = 50;

/** Where there are too many, those go first whose limits have arrived: only a request is still to follow there. */
function mostOpenLast(intents: readonly Intent[]): readonly Intent[] {
  if (intents.length <= keptIntents) return intents;
  return intents.toSorted((a, b) => Number(b.limitsApplied ?? false) - Number(a.limitsApplied ?? false));
}

function writeIntent({ atMs, changes, waitingFor, ...intent }: Intent) {
  return { ...intent, changes: writeChanges(changes), at: time(atMs), ...opt("waitingFor", cut(waitingFor)) };
}

function writeAction({ atMs, changes, detail, ...action }: Action) {
  return { ...action, changes: writeChanges(changes), at: time(atMs), ...opt("detail", cut(detail)) };
}

function writeChanges(changes: readonly Change[]) {
  return changes.slice(0, 40).map(({ from, to, ...change }) => ({ ...change, from: writeMemory(from), to: writeMemory(to) }));
}

function writeMemory({ limit, request }: Memory) {
  return { limit: quantityText(limit), ...opt("request", textOf(request)) };
}

const textOf = (value: Memory["request"]) => (value === undefined ? undefined : quantityText(value));

// With milliseconds: what is read back is what was written, and a cooldown does not begin a second early.
const time = (milliseconds: number) => new Date(milliseconds).toISOString();

// The schema says so; one sentence too long must not keep a whole record from being stored.
const cut = (sentence: string | undefined) => (sentence === undefined ? undefined : sentence.slice(0, 1024));

const mostEver = 1_000_000;

function count<K extends string>(key: K, value: number): { readonly [P in K]?: number } {
  return opt(key, value === 0 ? undefined : Math.min(value, mostEver));
}

function list<K extends string, T, U>(
  key: K,
  values: readonly T[],
  most: number,
  write: (value: T) => U,
): { readonly [P in K]?: readonly U[] } {
  return opt(key, values.length === 0 ? undefined : values.slice(-most).map(write));
}

/** A field that is there only if it has a value. */
function opt<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: T });
}
