// Reads AppMemory.status into an AppRecord (readRecord), and writes a plan into AppMemory.status (statusOf).
//
// Reading is lenient, because other clients, backups and other versions of memhog may write anything, and one broken object must never
// stop the others (E3). Entries that cannot be read are dropped one by one and counted. That is safe: a record only holds memhog back
// (cooldowns, stops, counts) or names an intent, and a lost intent is decided again from the state of the cluster.
import { condition } from "@memhog/runtime";
import { parseTime, setCondition } from "@memhog/runtime/objects";
import type { StatusOf } from "@memhog/runtime/schema";
import { type Bytes, bytesOf, quantityText } from "../model/bytes.ts";
import {
  type Action,
  type ActionOutcome,
  type AppRecord,
  type Change,
  type CountedKill,
  type Given,
  type Intent,
  keptActions,
  type Learned,
  type Measured,
  type Memory,
  type Method,
  type Plan,
  type Shrink,
  type Stop,
  type Summary,
  type Waiting,
} from "../model/plan.ts";
import {
  type ActionCause,
  actionCauses,
  holdReasons,
  type RaiseReason,
  type Reason,
  raiseReasons,
  type WaitReason,
  waitReasons,
} from "../model/reasons.ts";
import { AppMemory } from "./app-memory.ts";

/** @param onBroken Called for every entry that cannot be read: "intents[2]" */
export function readRecord(memory: AppMemory | undefined, onBroken: (where: string) => void = () => {}): AppRecord {
  const status = isFields(memory?.status) ? memory.status : {};
  const list = <T>(name: string, read: (entry: Fields) => T) => readList(status[name], read, (at) => onBroken(`${name}[${at}]`));
  const count = (name: string) =>
    attempt(
      () => whole(status[name] ?? 0),
      () => onBroken(name),
    ) ?? 0;
  return {
    learned: list("learned", readLearned),
    intents: list("intents", readIntent),
    actions: list("actions", readAction),
    kills: list("kills", readKill),
    given: list("given", readGiven),
    reverts: count("reverts"),
    stops: list("stops", readStop),
    shrinks: list("shrinks", readShrink),
    raises: count("raises"),
    oomKills: count("oomKills"),
  };
}

function readLearned(entry: Fields): Learned {
  const revision = optional("revision", entry.revision, text);
  return { container: text(entry.container), ...revision, ...readMemory(entry), atMs: instant(entry.at) };
}

function readIntent(entry: Fields): Intent {
  return {
    id: text(entry.id),
    ...whatWhyWhen(entry),
    attempt: Math.max(1, whole(entry.attempt)),
    ...optional("copy", entry.copy, text),
    ...optional("copyUid", entry.copyUid, text),
    ...optional("limitsApplied", entry.limitsApplied, (value) => value === true),
    ...optional("waiting", entry.waiting, (value) => readWaiting(fields(value))),
  };
}

function readAction(entry: Fields): Action {
  return {
    ...whatWhyWhen(entry),
    outcome: oneOf(entry.outcome, outcomes),
    ...optional("cause", entry.cause, (value) => oneOf(value, causes)),
    ...optional("message", entry.message, text),
  };
}

function readWaiting(entry: Fields): Waiting {
  return { reason: oneOf(entry.reason, waits), ...optional("message", entry.message, text) };
}

/** The fields that intents and actions have in common. */
function whatWhyWhen(entry: Fields): Omit<Action, "outcome" | "cause" | "message"> {
  const pod = fields(entry.pod);
  return {
    method: oneOf(entry.method, methods),
    pod: { name: text(pod.name), uid: text(pod.uid) },
    changes: fieldsList(entry.changes).map(readChange),
    reason: oneOf(entry.reason, reasons),
    atMs: instant(entry.at),
  };
}

function readChange(entry: Fields): Change {
  const [from, to] = [readMemory(fields(entry.from)), readMemory(fields(entry.to))];
  return {
    ...{ container: text(entry.container), from, to },
    ...optional("cappedBy", entry.cappedBy, text),
    ...optional("measured", entry.measured, (value) => readMeasured(fields(value))),
  };
}

function readMeasured(entry: Fields): Measured {
  return {
    ...{ usage: amount(entry.usage), atMs: instant(entry.at), restart: whole(entry.restart) },
    ...optional("still", entry.still, (value) => value === true),
    ...optional("fellBack", entry.fellBack, (value) => value === true),
  };
}

function readMemory(entry: Fields): Memory {
  return { limit: amount(entry.limit), request: entry.request === undefined ? undefined : amount(entry.request) };
}

function readKill(entry: Fields): CountedKill {
  return { uid: text(entry.uid), container: text(entry.container), restart: whole(entry.restart) };
}

function readGiven(entry: Fields): Given {
  return { uid: text(entry.uid), container: text(entry.container), limit: amount(entry.limit) };
}

function readStop(entry: Fields): Stop {
  return {
    reason: oneOf(entry.reason, stops),
    atMs: instant(entry.at),
    ...optional("uid", entry.uid, text),
    ...optional("container", entry.container, text),
    monitorUid: text(entry.monitorUid),
    monitorGeneration: whole(entry.monitorGeneration),
  };
}

function readShrink(entry: Fields): Shrink {
  const pod = fields(entry.pod);
  return {
    pod: { name: text(pod.name), uid: text(pod.uid) },
    container: text(entry.container),
    from: readMemory(fields(entry.from)),
    to: readMemory(fields(entry.to)),
    atMs: instant(entry.at),
    state: oneOf(entry.state, shrinkStates),
  };
}

const shrinkStates: readonly Shrink["state"][] = ["Pending", "Applied", "Reverting", "Undone", "Refused"];
const methods: readonly Method[] = ["InPlace", "CopyPod", "Template"];
const outcomes: readonly ActionOutcome[] = ["Applied", "Abandoned", "Infeasible", "Refused", "NotReady"];
const stops: readonly Stop["reason"][] = ["SuspectedLeak", "UsageFollowsLimit", "RaisesIneffective", "Contested"];
const reasons = Object.keys(raiseReasons) as readonly RaiseReason[];
const waits = Object.keys(waitReasons) as readonly WaitReason[];
const causes = Object.keys(actionCauses) as readonly ActionCause[];

// Readers of one value. They throw for anything unexpected, and readList drops the entry.

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function readList<T>(value: unknown, read: (entry: Fields) => T, onBroken: (at: number) => void): readonly T[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry, at) => {
    const found = attempt(
      () => read(fields(entry)),
      () => onBroken(at),
    );
    return found === undefined ? [] : [found];
  });
}

function attempt<T>(read: () => T, onBroken: () => void): T | undefined {
  try {
    return read();
  } catch {
    onBroken();
    return undefined;
  }
}

function expected(what: string, value: unknown): TypeError {
  return new TypeError(`expected ${what}, found ${typeof value}`);
}

function fields(value: unknown): Fields {
  if (!isFields(value)) throw expected("an object", value);
  return value;
}

function fieldsList(value: unknown): readonly Fields[] {
  if (!Array.isArray(value)) throw expected("a list", value);
  return value.map(fields);
}

function text(value: unknown): string {
  if (typeof value !== "string") throw expected("a string", value);
  return value;
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw expected("a whole number", value);
  return value as number;
}

function amount(value: unknown): Bytes {
  return bytesOf(text(value));
}

function instant(value: unknown): number {
  const milliseconds = parseTime(text(value));
  if (milliseconds === undefined) throw expected("a time", value);
  return milliseconds;
}

function oneOf<T extends string>(value: unknown, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found === undefined) throw expected(known.join(" or "), value);
  return found;
}

/** An optional field. */
function optional<K extends string, T>(key: K, value: unknown, read: (value: unknown) => T): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: read(value) } as { readonly [P in K]: T });
}

// The status is written only when something changed (E1), so it must not contain anything that changes with every sample: messages
// with numbers (decision.detail, summary.message) go to logs, Events and `explain`. While nothing is raised, the columns keep showing
// the same container, although another one may be nearest to its limit by now.

type Status = StatusOf<typeof AppMemory>;
type Condition = NonNullable<Status["conditions"]>[number];

/** The whole status. Conditions of others and transition times are kept. */
export function statusOf(plan: Plan, before: Status | undefined, nowMs: number): Status {
  const { phase, reason } = plan.summary;
  const conditions = setCondition<Condition>(before?.conditions, settledOf(plan.summary), nowMs);
  return { phase, reason, ...columnsOf(plan, before), ...writeRecord(plan.record), conditions };
}

function settledOf({ phase, reason, otherAutoscaler }: Summary) {
  const why = `${reason}: ${sentences[reason]}${otherAutoscaler === undefined ? "" : beside(otherAutoscaler)}`;
  return phase === "Watching" ? condition(AppMemory, "Settled", "AsWanted", why) : condition(AppMemory, "Settled", phase, why);
}

function beside({ name, kind }: NonNullable<Summary["otherAutoscaler"]>): string {
  return kind === "HPA" ? `; next to ${name} only limits are raised, in place` : `; ${name} manages this memory`;
}

const sentences: Readonly<Record<Reason, string>> = { ...raiseReasons, ...holdReasons };

type Columns = Pick<Status, "container" | "limit" | "wanted" | "applied">;

function columnsOf({ summary, verdicts }: Plan, before: Status | undefined): Columns {
  const now = columnsFrom(summary);
  const { container, limit, wanted, applied } = before ?? {};
  const idle = summary.phase === "Watching" && before?.phase === "Watching";
  // Another replica may have another size, although the container has the same name.
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

/** Omits empty lists and zeros. A list that is too long keeps its newest entries. */
function writeRecord(record: AppRecord): Written {
  return {
    ...list("learned", record.learned, 40, ({ container, revision, atMs, ...memory }) => ({
      container,
      ...opt("revision", revision),
      ...writeMemory(memory),
      at: time(atMs),
    })),
    ...list("intents", mostOpenLast(record.intents), keptIntents, writeIntent),
    ...list("actions", record.actions, keptActions, writeAction),
    ...list("kills", record.kills, 500, ({ uid, container, restart }) => ({ uid, container, restart })),
    ...list("given", record.given, 500, ({ uid, container, limit }) => ({ uid, container, limit: quantityText(limit) })),
    ...count("reverts", record.reverts),
    ...list("stops", record.stops, 100, ({ atMs, ...stop }) => ({ ...stop, at: time(atMs) })),
    ...list("shrinks", record.shrinks, 100, ({ pod, container, from, to, atMs, state }) => ({
      ...{ pod, container, from: writeMemory(from), to: writeMemory(to) },
      ...{ at: time(atMs), state },
    })),
    ...count("raises", record.raises),
    ...count("oomKills", record.oomKills),
  };
}

const keptIntents = 50;

/** If there are too many, those with applied limits are dropped first: only their requests are open. */
function mostOpenLast(intents: readonly Intent[]): readonly Intent[] {
  if (intents.length <= keptIntents) return intents;
  return intents.toSorted((a, b) => Number(b.limitsApplied ?? false) - Number(a.limitsApplied ?? false));
}

function writeIntent({ atMs, changes, waiting, ...intent }: Intent) {
  const why = waiting && { reason: waiting.reason, ...opt("message", cut(waiting.message)) };
  return { ...intent, changes: writeChanges(changes), at: time(atMs), ...opt("waiting", why) };
}

function writeAction({ atMs, changes, message, ...action }: Action) {
  return { ...action, changes: writeChanges(changes), at: time(atMs), ...opt("message", cut(message)) };
}

function writeChanges(changes: readonly Change[]) {
  return changes.slice(0, 40).map(({ from, to, measured, ...change }) => ({
    ...{ ...change, from: writeMemory(from), to: writeMemory(to) },
    ...opt("measured", measured && writeMeasured(measured)),
  }));
}

function writeMeasured({ usage, atMs, ...rest }: Measured) {
  return { ...rest, usage: quantityText(usage), at: time(atMs) };
}

function writeMemory({ limit, request }: Memory) {
  return { limit: quantityText(limit), ...opt("request", textOf(request)) };
}

const textOf = (value: Memory["request"]) => (value === undefined ? undefined : quantityText(value));

// With milliseconds, so that reading returns what was written, and no cooldown begins a second early.
const time = (milliseconds: number) => new Date(milliseconds).toISOString();

// The limit of the schema: one message that is too long must not prevent the record from being stored.
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

/** A field, if it has a value. */
function opt<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: T });
}
