// How built-in objects are written in protobuf, and what of that is written in JSON. The table (generated/structs.ts) has a
// line per Go struct:
//
//     "core.v1.ContainerPort": "name:string=1 hostPort:int32=2 containerPort!:int32=3 protocol:string=4 hostIP:string=5"
//
//   name!   in JSON even if it is empty     name:*int32   a pointer: zero is a value     =1       the number in protobuf
//   name-   not in JSON if it is zero       name:[]x {}x  a list, a map from text        ~x=1     the fields of x, embedded
//
// Lines are taken apart when they are first needed: of the 300 structs most programs meet a few dozen.
import { structs } from "./generated/structs.ts";

export interface Struct {
  /** By number; most numbers are small. */
  readonly fields: readonly (Field | undefined)[];
  /** Lists and maps that are `null` in JSON when they are empty. */
  readonly nullable: readonly string[];
  /** Everybody looks at it, so it is not worth leaving it unread. */
  readonly alwaysRead: boolean;
}

interface FieldFacts {
  readonly name: string;
  /** "string", "quantity", …, or the name of a struct. */
  readonly type: string;
  readonly form: "one" | "list" | "map" | "embedded";
  /** A zero is left out of JSON. */
  readonly omitZero: boolean;
  /** Also an empty struct or time is. */
  readonly omitEmpty: boolean;
}

export interface Field extends FieldFacts {
  /** What its type is, if that is a struct. Structs may contain themselves, so it is looked up when it is first needed. */
  readonly struct: Struct | undefined;
}

/** Looks structs up, each taken apart once. */
export type StructBook = (name: string) => Struct | undefined;

export function structBook(lines: Readonly<Record<string, string>> = structs): StructBook {
  const known = new Map<string, Struct | undefined>();
  const book: StructBook = (name) => {
    if (!known.has(name)) known.set(name, structOf(name, lines[name], book));
    return known.get(name);
  };
  return book;
}

const word = /^(?:(~)|([^:]*?)([!-]?):)([^=]+)=(\d+)$/;

function structOf(struct: string, line: string | undefined, book: StructBook): Struct | undefined {
  if (line === undefined) return undefined;
  const fields: Field[] = [];
  const nullable: string[] = [];
  for (const each of line.split(" ")) {
    const [, embedded, name = "", flag, written = "", number] = word.exec(each) ?? [];
    if (number === undefined) continue; // kind and apiVersion: the envelope has them
    const field = fieldOf(name, flag ?? "", written);
    fields[Number(number)] = new KnownField(embedded === undefined ? field : { ...field, form: "embedded" }, book);
    if (flag === "!" && (field.form === "list" || field.form === "map")) nullable.push(name);
  }
  return { fields, nullable, alwaysRead: struct === "meta.v1.ObjectMeta" };
}

function fieldOf(name: string, flag: string, written: string): FieldFacts {
  const [, prefix = "", type = ""] = /^(\*|\[\]|\{\})?\*?(.*)$/.exec(written) ?? [];
  const form = prefix === "[]" ? "list" : prefix === "{}" ? "map" : "one";
  return { name, type, form, omitZero: flag !== "!" && prefix === "", omitEmpty: flag === "-" };
}

class KnownField implements Field {
  readonly name: string;
  readonly type: string;
  readonly form: Field["form"];
  readonly omitZero: boolean;
  readonly omitEmpty: boolean;
  readonly #book: StructBook;
  /** null: not looked up yet. */
  #struct: Struct | undefined | null = null;

  constructor({ name, type, form, omitZero, omitEmpty }: FieldFacts, book: StructBook) {
    this.name = name;
    this.type = type;
    this.form = form;
    this.omitZero = omitZero;
    this.omitEmpty = omitEmpty;
    this.#book = book;
  }

  get struct(): Struct | undefined {
    if (this.#struct === null) this.#struct = this.#book(this.type);
    return this.#struct;
  }
}
