// The types of fields as the table of structs spells them ("[]core.v1.Container", "{}quantity"), taken apart once.

export type GoType =
  /** One of those that shape.ts knows by name: "string", "int32", "quantity", … */
  | { readonly kind: "scalar"; readonly name: string }
  | { readonly kind: "list"; readonly name: string; readonly item: GoType }
  | { readonly kind: "map"; readonly name: string; readonly item: GoType }
  | { readonly kind: "struct"; readonly name: string };

/** The type of this spelling; the star of a pointer makes no difference here. */
export function goTypeNamed(spelled: string): GoType {
  const name = spelled.replace(/^\*/, "");
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

/** What Go has where nothing was said. */
export function zeroOf({ kind, name }: GoType): unknown {
  return kind === "struct" ? {} : (zeros[name] ?? null);
}
