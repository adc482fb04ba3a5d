// Looks up the structs of built-in kinds. generate/go-structs.ts describes their format.
import { structs } from "./generated/structs.ts";
import type { KindEntry } from "./kind-entry.ts";

export interface Field {
  /** Without the "*" of a pointer. */
  readonly type: string;
  /** The parsed `type`. */
  readonly goType: GoType;
  readonly pointer: boolean;
  /** Written even if it is empty. */
  readonly always: boolean;
  /** Omitted if it is zero (omitzero), also if it is a struct. */
  readonly omitZero: boolean;
  /** The struct that declares the field: for an embedded field, the embedded struct. */
  readonly struct: string;
  /** The name in Go's error messages, which includes embedded structs. */
  readonly path: string;
}

/** Fields by JSON name, including those of embedded structs. */
type Struct = ReadonlyMap<string, Field>;

/** A field by protobuf number. An `embedded` field has no name. */
interface WireField {
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

function fieldsInLine(line: string): readonly Written[] {
  return line.split(" ").flatMap((word) => {
    const found = /^(?:~|([^:]*?)([!-]?):)([^=]+)(?:=(\d+))?$/.exec(word);
    return found === null ? [] : [{ name: found[1] ?? "", flag: found[2] ?? "", type: found[3] ?? "", number: Number(found[4]) }];
  });
}

function fieldsOf(structName: string, line: string): Struct {
  const struct = shortName(structName);
  return new Map(
    fieldsInLine(line).flatMap(({ name, flag, type }) =>
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

/** Returns the fields of a struct by protobuf number, or undefined if the struct is unknown. */
export function wireFieldsOf(name: string): ReadonlyMap<number, WireField> | undefined {
  const line = structs[name];
  if (line === undefined) return undefined;
  const words = fieldsInLine(line).map((word) => {
    const type = word.type.replace(/^\*/, "");
    return [word.number, { name: word.name, type, embedded: word.name === "" }] as const;
  });
  return new Map(words);
}

/** Returns the name of the struct of a kind: "core.v1.Pod", "rbac.v1.Role". */
export function structNameOf({ group, version, kind }: Pick<KindEntry, "group" | "version" | "kind">): string {
  return `${group.split(".")[0] || "core"}.${version}.${kind}`;
}

// Parsed field types, such as "[]core.v1.Container" or "{}quantity".

export type GoType =
  /** A type that shape.ts implements: "string", "int32", "quantity", … */
  | { readonly kind: "scalar"; readonly name: string }
  | { readonly kind: "list"; readonly name: string; readonly item: GoType }
  | { readonly kind: "map"; readonly name: string; readonly item: GoType }
  | { readonly kind: "struct"; readonly name: string };

/** Parses a type. Ignores the "*" of a pointer. */
function goTypeNamed(text: string): GoType {
  const name = text.replace(/^\*/, "");
  if (name.startsWith("[]")) return { kind: "list", name, item: goTypeNamed(name.slice(2)) };
  if (name.startsWith("{}")) return { kind: "map", name, item: goTypeNamed(name.slice(2)) };
  return { kind: name.includes(".") ? "struct" : "scalar", name };
}

const zeros: Readonly<Record<string, unknown>> = {
  string: "",
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  quantity: "0",
  "int-or-string": 0,
};

/** The zero value of a Go type. */
export function zeroOf({ kind, name }: GoType): unknown {
  return kind === "struct" ? {} : (zeros[name] ?? null);
}
