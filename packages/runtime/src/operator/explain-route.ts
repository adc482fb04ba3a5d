// "Why did it (not) do anything about this object?", over HTTP: what controllers remember of an object's last reconciles.
//
//     curl localhost:8080/debug/explain?key=default/web
import type { ReconcileRecord } from "../controller/explain.ts";
import { keyOf, type ObjectRef } from "../objects/object.ts";
import type { Route } from "./endpoints.ts";

/** The part of a running controller that remembers. */
export interface Remembering {
  readonly controller: { readonly name: string };
  explain(ref: ObjectRef): readonly ReconcileRecord[];
  explained(): readonly string[];
}

/** With ?key=namespace/name the records of that object, by controller; without it, the keys there are. */
export function explainRoute(runners: () => readonly Remembering[]): Route {
  return (url) => {
    const key = url.searchParams.get("key");
    const tell = (what: (runner: Remembering) => unknown) =>
      Object.fromEntries(runners().map((runner) => [runner.controller.name, what(runner)]));
    const found = key === null ? tell((runner) => runner.explained()) : tell((runner) => runner.explain(refOfText(key)));
    return { type: "application/json", body: `${JSON.stringify(found, undefined, 2)}\n` };
  };
}

/** The inverse of keyOf. */
function refOfText(key: string): ObjectRef {
  const [first = "", second] = key.split("/");
  const ref = second === undefined ? { name: first } : { namespace: first, name: second };
  return keyOf(ref) === key ? ref : { name: key };
}
