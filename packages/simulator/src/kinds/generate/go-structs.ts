// Parses the structs of Kubernetes objects from the source of its Go packages: names and types of fields, which fields are
// pointers, which are written even if empty, and their protobuf numbers. The result is generated/structs.ts, one line per
// struct:
//
//     "core.v1.ContainerPort": "name:string=1 hostPort:int32=2 containerPort!:int32=3 protocol:string=4 hostIP:string=5"
//
//   name!            always written (no omitempty)          name:*int32      a pointer: zero is a value, nil is missing
//   name-            omitted if zero (omitzero)             name:[]x {}x     a list, a map with string keys
//   ~x=1             the fields of x, embedded              =1               the protobuf number
//
// Types are string, bool, int32, int64, float64, bytes, quantity, int-or-string, time, microtime, any (opaque JSON), or the name
// of another line. This file is needed only for a new version of Kubernetes; see generate/main.ts.

/** A Go package: its short name ("core.v1") and the contents of its files. */
export interface GoPackage {
  readonly name: string;
  readonly files: readonly string[];
}

/** Types whose JSON form differs from their Go fields. */
const special: Readonly<Record<string, string>> = {
  "resource.Quantity": "quantity",
  "intstr.IntOrString": "int-or-string",
  "runtime.RawExtension": "any",
  "types.UID": "string",
  "types.NodeName": "string",
  "meta.v1.Time": "time",
  "meta.v1.MicroTime": "microtime",
  "meta.v1.FieldsV1": "any",
  "apiextensions.v1.JSON": "any",
  "apiextensions.v1.JSONSchemaProps": "any",
};

const plain: Readonly<Record<string, string>> = { int: "int64", "[]byte": "bytes", float64: "float64", byte: "int32" };
const basic = new Set(["string", "bool", "int32", "int64", "float64"]);

/** "k8s.io/api/core/v1" → "core.v1". Other packages use the last part of their path. */
export function packageName(path: string): string {
  const versioned = /(?:^|\/)([a-z]+)\/(v\d\w*)$/.exec(path);
  return versioned === null ? (path.split("/").at(-1) ?? path) : `${versioned[1]}.${versioned[2]}`;
}

/** Returns the lines for these structs and for all structs they use. */
export function linesOf(packages: readonly GoPackage[], roots: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map(packages.flatMap(declarationsIn));
  const lines = new Map<string, string>();
  const visit = (name: string) => {
    const declared = found.get(name);
    if (declared?.fields === undefined || lines.has(name)) return;
    const fields = declared.fields.map((field) => ({ ...field, type: resolved(field.type, found) }));
    lines.set(name, fields.map(({ head, type, number }) => `${head}${type}${number}`).join(" "));
    for (const { type } of fields) visit(type.replace(/^(\*|\[\]|\{\})+/, ""));
  };
  for (const root of roots) visit(root);
  return new Map([...lines].sort(([a], [b]) => (a < b ? -1 : 1)));
}

interface Field {
  /** "name:", "name!:", "~" */
  readonly head: string;
  /** Unresolved: "[]core.v1.Volume", "core.v1.RestartPolicy". */
  readonly type: string;
  /** "=1", or empty. */
  readonly number: string;
}

interface Declaration {
  readonly fields?: readonly Field[];
  /** The aliased type: "string", "{}quantity". */
  readonly alias?: string;
}

function declarationsIn({ name, files }: GoPackage): readonly (readonly [string, Declaration])[] {
  return files.flatMap((text) => {
    const imports = importsIn(text);
    const typeIn = (type: string) => goType(type, name, imports);
    const structs = [...text.matchAll(/^type (\w+) struct ?\{(?:\}|\n(.*?)^\})/gms)].map(
      ([, struct = "", body = ""]) => [`${name}.${struct}`, { fields: fieldsIn(body, typeIn) }] as const,
    );
    const aliases = [...text.matchAll(/^type (\w+) (?!struct|interface)(\S+)$/gm)].map(
      ([, alias = "", type = ""]) => [`${name}.${alias}`, { alias: typeIn(type) }] as const,
    );
    return [...structs, ...aliases];
  });
}

function importsIn(text: string): ReadonlyMap<string, string> {
  const lines = [...text.matchAll(/^\s+(?:(\w+) )?"(k8s\.io\/[^"]+)"$/gm)];
  return new Map(lines.map(([, alias, path = ""]) => [alias ?? path.split("/").at(-1) ?? "", packageName(path)]));
}

const fieldLine = /^\t(?:(\w+)\s+)?(\S+)\s+`json:"([^",]*)([^"]*)"(?:.*?protobuf:"\w+,(\d+),)?/gm;

const typeMeta: readonly Field[] = ["kind", "apiVersion"].map((name) => ({ head: `${name}:`, type: "string", number: "" }));

function fieldsIn(body: string, typeIn: (type: string) => string): readonly Field[] {
  return [...body.matchAll(fieldLine)].flatMap(([, , type = "", name = "", options = "", number]) => {
    const numbered = number === undefined ? "" : `=${number}`;
    if (name === "-") return [];
    if (type.endsWith("TypeMeta")) return typeMeta; // not part of the protobuf message, but of its envelope
    if (name === "") return [{ head: "~", type: typeIn(type), number: numbered }];
    const mode = options.includes("omitzero") ? "-" : options.includes("omitempty") ? "" : "!";
    return [{ head: `${name}${mode}:`, type: typeIn(type), number: numbered }];
  });
}

/** Qualifies a Go type: "map[string]Quantity" → "{}resource.Quantity". */
function goType(type: string, home: string, imports: ReadonlyMap<string, string>): string {
  if (plain[type] !== undefined) return plain[type];
  const map = /^map\[[\w.]+\](.*)$/.exec(type);
  if (map !== null) return `{}${goType(map[1] ?? "", home, imports)}`;
  const prefixed = /^(\*|\[\])(.*)$/.exec(type);
  if (prefixed !== null) return `${prefixed[1]}${goType(prefixed[2] ?? "", home, imports)}`;
  if (basic.has(type)) return type;
  const [first = "", second] = type.split(".");
  return second === undefined ? `${home}.${first}` : `${imports.get(first) ?? first}.${second}`;
}

/** Replaces aliases. A pointer to a list or map becomes the list or map. */
function resolved(type: string, found: ReadonlyMap<string, Declaration>): string {
  const [, prefix = "", name = ""] = /^((?:\*|\[\]|\{\})*)(.*)$/.exec(type) ?? [];
  if (special[name] !== undefined) return prefix + special[name];
  const alias = found.get(name)?.alias;
  if (alias === undefined) return type;
  const inner = resolved(alias, found);
  return /^(\[\]|\{\})/.test(inner) ? prefix.replace(/\*$/, "") + inner : prefix + inner;
}
