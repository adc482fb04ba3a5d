// Reads the structs that Kubernetes keeps its objects in, from the text of its Go packages: the names and types of fields,
// which of them are pointers, which are written even if they are empty, and their numbers in protobuf. The result is
// generated/structs.ts, one line per struct:
//
//     "core.v1.ContainerPort": "name:string=1 hostPort:int32=2 containerPort!:int32=3 protocol:string=4 hostIP:string=5"
//
//   name!            always written (no omitempty)          name:*int32      a pointer: zero is a value, nil is none
//   name-            left out if it is zero (omitzero)      name:[]x {}x     a list, a map from text
//   ~x=1             the fields of x, embedded              =1               the number in protobuf
//
// Types are string, bool, int32, int64, float64, bytes, quantity, int-or-string, time, microtime, any (somebody else's
// JSON), or the name of another line. This file is needed only when Kubernetes moves on; see generate/main.ts.

/** One Go package, by the name it has here ("core.v1"), and the text of its files. */
export interface GoPackage {
  readonly name: string;
  readonly files: readonly string[];
}

/** Types that are not what their fields say. */
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

/** "k8s.io/api/core/v1" → "core.v1"; other packages have the last part of their path. */
export function packageName(path: string): string {
  const versioned = /(?:^|\/)([a-z]+)\/(v\d\w*)$/.exec(path);
  return versioned === null ? (path.split("/").at(-1) ?? path) : `${versioned[1]}.${versioned[2]}`;
}

/** The lines for these structs and whatever they are made of. */
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
  /** Not resolved yet: "[]core.v1.Volume", "core.v1.RestartPolicy". */
  readonly type: string;
  /** "=1", or nothing. */
  readonly number: string;
}

interface Declaration {
  readonly fields?: readonly Field[];
  /** What another name stands for: "string", "{}quantity". */
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
    if (type.endsWith("TypeMeta")) return typeMeta; // not part of the message in protobuf: the envelope says it
    if (name === "") return [{ head: "~", type: typeIn(type), number: numbered }];
    const mode = options.includes("omitzero") ? "-" : options.includes("omitempty") ? "" : "!";
    return [{ head: `${name}${mode}:`, type: typeIn(type), number: numbered }];
  });
}

/** A Go type with full names: "map[string]Quantity" → "{}resource.Quantity". */
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

/** The type with names that only stand for others replaced. A pointer to a list or a map is the list or the map. */
function resolved(type: string, found: ReadonlyMap<string, Declaration>): string {
  const [, prefix = "", name = ""] = /^((?:\*|\[\]|\{\})*)(.*)$/.exec(type) ?? [];
  if (special[name] !== undefined) return prefix + special[name];
  const alias = found.get(name)?.alias;
  if (alias === undefined) return type;
  const inner = resolved(alias, found);
  return /^(\[\]|\{\})/.test(inner) ? prefix.replace(/\*$/, "") + inner : prefix + inner;
}
