// AppMemory.status → AppRecord: what we wrote down, read back as values. People, backups and other versions of us can put anything
// there, and a poisoned object must never stop the others (promise E3). So it is read leniently: what cannot be understood is left
// out, entry by entry, and counted; the rest stands. Leaving out is safe, because a record only ever holds us back (cooldowns,
// stops, counts) or names an intent, and an intent that is lost is decided again from what the cluster shows.
//
//     readRecord(ctx.get(AppMemory, ref))     the other way round is status.ts
import { parseTime } from "@memhog/runtime";
import { type Bytes, bytesOf } from "../model/bytes.ts";
import { type RaiseReason, raiseReasons } from "../model/reasons.ts";
import type {
  Action,
  ActionOutcome,
  AppRecord,
  Change,
  CountedKill,
  Given,
  Intent,
  Learned,
  Memory,
  Road,
  Stop,
} from "../model/record.ts";
import type { AppMemory } from "./app-memory.ts";

/** What an AppMemory knows. `onBroken` is told about every entry that could not be read: "intents[2]". */
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
    raises: count("raises"),
    oomKills: count("oomKills"),
  };
}

function readLearned(entry: Fields): Learned {
  return { container: text(entry.container), ...readMemory(entry), atMs: instant(entry.at) };
}

function readIntent(entry: Fields): Intent {
  return {
    id: text(entry.id),
    ...whatWhyWhen(entry),
    attempt: Math.max(1, whole(entry.attempt)),
    ...optional("copy", entry.copy, text),
    ...optional("limitsApplied", entry.limitsApplied, (value) => value === true),
    ...optional("waitingFor", entry.waitingFor, text),
  };
}

function readAction(entry: Fields): Action {
  return { ...whatWhyWhen(entry), outcome: oneOf(entry.outcome, outcomes), ...optional("detail", entry.detail, text) };
}

/** What intents and actions have in common. */
function whatWhyWhen(entry: Fields): Omit<Action, "outcome" | "detail"> {
  const pod = fields(entry.pod);
  return {
    road: oneOf(entry.road, roads),
    pod: { name: text(pod.name), uid: text(pod.uid) },
    changes: fieldsList(entry.changes).map(readChange),
    reason: oneOf(entry.reason, reasons),
    atMs: instant(entry.at),
  };
}

function readChange(entry: Fields): Change {
  const [from, to] = [readMemory(fields(entry.from)), readMemory(fields(entry.to))];
  return { container: text(entry.container), from, to, ...optional("cappedBy", entry.cappedBy, text) };
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
    monitorUid: text(entry.monitorUid),
    monitorGeneration: whole(entry.monitorGeneration),
  };
}

const roads: readonly Road[] = ["InPlace", "CopyPod", "Template"];
const outcomes: readonly ActionOutcome[] = ["Applied", "Abandoned", "Infeasible", "Refused", "NotReady"];
const stops: readonly Stop["reason"][] = ["SuspectedLeak", "RaisesFutile", "Contested"];
const reasons = Object.keys(raiseReasons) as readonly RaiseReason[];

// Readers of one value: they throw for what they do not understand, and readList leaves that entry out.

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

/** A field that is there only if it was there. */
function optional<K extends string, T>(key: K, value: unknown, read: (value: unknown) => T): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: read(value) } as { readonly [P in K]: T });
}
