// The structs of built-in kinds, ready to be looked up. generate/go-structs.ts says how they are written down.
import { structs } from "./generated/structs.ts";
import { type GoType, goTypeNamed } from "./go-types.ts";

export interface Field {
  /** Without the star of a pointer. */
  readonly type: string;
  /** The same, taken apart. */
  readonly goType: GoType;
  readonly pointer: boolean;
  /** Written even if it is empty. */
  readonly always: boolean;
  /** Left out if it is zero, also where Go could not do that for long. */
  readonly omitZero: boolean;
  /** The struct that has it: an embedded one has its own name. */
  readonly struct: string;
  /** Its name in Go's complaints: embedded structs are part of it. */
  readonly path: string;
}

/** By the names of fields in JSON; embedded structs have lent theirs. */
export type Struct = ReadonlyMap<string, Field>;

/** A field by its number in protobuf; `embedded` has no name of its own. */
export interface WireField {
  readonly name: string;
  readonly type: string;
  readonly embedded: boolean;
}

const byName = new Map(Object.entries(structs).map(([name, line]) => [name, fieldsOf(name, line)] as const));

export function structNamed(name: string): Struct | undefined {
  return byName.get(name);
}

interface Written {
  readonly name: string;
  readonly flag: string;
  readonly type: string;
  readonly number: number;
}

function wordsOf(line: string): readonly Written[] {
  return line.split(" ").flatMap((word) => {
    const found = /^(?:~|([^:]*?)([!-]?):)([^=]+)(?:=(\d+))?$/.exec(word);
    return found === null ? [] : [{ name: found[1] ?? "", flag: found[2] ?? "", type: found[3] ?? "", number: Number(found[4]) }];
  });
}

function fieldsOf(structName: string, line: string): Struct {
  const struct = shortName(structName);
  return new Map(
    wordsOf(line).flatMap(({ name, flag, type }) =>
      name === ""
        ? [...fieldsOf(type, structs[type] ?? "")].map(
            ([key, field]) => [key, { ...field, path: `${shortName(type)}.${field.path}` }] as const,
          )
        : [[name, { ...fieldOf(flag, type), struct, path: name }] as const],
    ),
  );
}

function fieldOf(flag: string, type: string) {
  const pointer = type.startsWith("*");
  return {
    type: pointer ? type.slice(1) : type,
    goType: goTypeNamed(type),
    pointer,
    always: flag === "!",
    omitZero: flag === "-",
  };
}

function shortName(struct: string): string {
  return struct.slice(struct.lastIndexOf(".") + 1);
}

/** The fields of a struct by their numbers; undefined if it is not known. */
export function wireFieldsOf(name: string): ReadonlyMap<number, WireField> | undefined {
  const line = structs[name];
  if (line === undefined) return undefined;
  const words = wordsOf(line).map((word) => {
    const type = word.type.replace(/^\*/, "");
    return [word.number, { name: word.name, type, embedded: word.name === "" }] as const;
  });
  return new Map(words);
}
