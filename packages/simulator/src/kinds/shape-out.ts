// The second half of shape.ts: an object as Go writes it. What must always be there is, even if it is empty.
import { isObject, type JsonObject } from "../json.ts";
import { type GoType, zeroOf } from "./go-types.ts";
import { type Field, structNamed } from "./structs.ts";

/** Writes what is always written, all the way down. Maps that became empty are left out. */
export function writeAsGo(object: JsonObject, struct: string): void {
  if (Object.isFrozen(object)) return;
  for (const [name, field] of fieldsToWrite(struct)) {
    const value = object[name] ?? absent(field);
    if (value === undefined || isLeftOut(value, field)) delete object[name];
    else if (value !== object[name]) object[name] = value;
    writeInside(value, field.goType);
  }
  dropNulls(object, struct);
}

function writeInside(value: unknown, type: GoType): void {
  if (value === null || typeof value !== "object" || type.kind === "scalar") return;
  if (type.kind === "struct") writeAsGo(value as JsonObject, type.name);
  else if (isPlain(type.item) || Object.isFrozen(value)) return;
  else for (const each of Object.values(value)) writeInside(each, type.item);
}

/** Nothing of it is ever filled in. */
function isPlain(type: GoType): boolean {
  return type.kind === "scalar" || (type.kind !== "struct" && isPlain(type.item));
}

/** Fields of which something may have to be said. Most are scalars that are there or not, and need no look. */
const toWrite = new Map<string, readonly (readonly [string, Field])[]>();

function fieldsToWrite(struct: string): readonly (readonly [string, Field])[] {
  const known = toWrite.get(struct);
  if (known !== undefined) return known;
  const matters = (field: Field) => !isPlain(field.goType) || field.goType.kind === "map" || absent(field) !== undefined;
  const fields = [...(structNamed(struct) ?? [])].filter(([, field]) => matters(field));
  toWrite.set(struct, fields);
  return fields;
}

/** Defaults and admission may have left a null where Go has nothing. */
function dropNulls(object: JsonObject, struct: string): void {
  for (const name of Object.keys(object)) {
    if (object[name] !== null && object[name] !== undefined) continue;
    const field = structNamed(struct)?.get(name);
    if (field !== undefined && absent(field) === undefined) delete object[name];
  }
}

function isLeftOut(value: unknown, { always, goType }: Field): boolean {
  return !always && goType.kind === "map" && isObject(value) && Object.keys(value).length === 0;
}

/** What stands for a field that is not there: nothing, unless Go has no way to leave it out. */
function absent({ goType, pointer, always, omitZero }: Field): unknown {
  if (omitZero) return undefined;
  if (pointer || goType.kind === "list" || goType.kind === "map") return always ? null : undefined;
  return always || isStruct(goType) ? zeroOf(goType) : undefined;
}

const structsInGo = ["time", "microtime", "quantity", "int-or-string"];

/** `omitempty` means nothing for a struct, and these are structs in Go. */
function isStruct({ kind, name }: GoType): boolean {
  return kind === "struct" || structsInGo.includes(name);
}
