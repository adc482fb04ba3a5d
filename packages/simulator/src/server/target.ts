// From a path to what it means: "/apis/apps/v1/namespaces/default/deployments/web/scale".
import type { KindEntry } from "../kinds/kind-entry.ts";
import type { KindRegistry } from "../kinds/registry.ts";
import type { Target } from "./core.ts";

/** The objects that the segments of a path name; undefined if it names none that this server has. */
export function targetOf(parts: readonly string[], kinds: KindRegistry): Target | undefined {
  const [root, ...rest] = parts;
  if (root === "api") return below({ group: "", version: rest[0] ?? "" }, rest.slice(1), kinds);
  if (root === "apis") return below({ group: rest[0] ?? "", version: rest[1] ?? "" }, rest.slice(2), kinds);
  return undefined;
}

export function segments(path: string): readonly string[] {
  const parts = path.slice(path.startsWith("/") ? 1 : 0, path.endsWith("/") ? -1 : undefined).split("/");
  return path.includes("%") ? parts.map(decodeURIComponent) : parts;
}

interface Type {
  readonly group: string;
  readonly version: string;
}

function below(type: Type, parts: readonly string[], kinds: KindRegistry): Target | undefined {
  const [first, namespace, plural, ...rest] = parts;
  if (first === undefined) return undefined;
  // "namespaces/x/status" is a door of the namespace itself, "namespaces/x/pods" is what is in it.
  const ofNamespace = type.group === "" && kinds.find(type, "namespaces")?.subresources?.[plural ?? ""] !== undefined;
  if (first === "namespaces" && namespace !== undefined && plural !== undefined && !ofNamespace) {
    const kind = kinds.find(type, plural);
    return kind?.namespaced === true ? target(kind, rest, namespace) : undefined;
  }
  const kind = kinds.find(type, first);
  // Objects in namespaces are listed across them here, and named only there.
  return kind === undefined || (kind.namespaced && parts.length > 1) ? undefined : target(kind, parts.slice(1));
}

function target(kind: KindEntry, parts: readonly string[], namespace?: string): Target | undefined {
  const [name, subresource, ...rest] = parts;
  if (subresource !== undefined && kind.subresources?.[subresource] === undefined) return undefined;
  return {
    kind,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    ...(rest.length > 0 && { rest: `/${rest.join("/")}` }),
  };
}
