// What somebody really did, from the audit log of a real API server, as rights: verb, resource, group.
import { readFile } from "node:fs/promises";
import type { Grant } from "@memhog/runtime";

/** "patch pods/resize", "list deployments.apps". */
type Right = string;

export interface Audited {
  readonly rights: ReadonlySet<Right>;
  /** What was not allowed. */
  readonly refused: readonly string[];
}

/** Everything that this user asked of the API server. */
export async function auditOf(auditLog: string, user: string): Promise<Audited> {
  const lines = (await readFile(auditLog, "utf8")).split("\n").filter((line) => line.includes(user));
  const events = lines.map((line) => JSON.parse(line)).filter((event) => event.user.username === user && event.objectRef);
  const rightOf = ({ verb, objectRef: { resource, subresource, apiGroup = "" } }: (typeof events)[number]) =>
    right(verb, subresource === undefined ? resource : `${resource}/${subresource}`, apiGroup);
  const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403);
  return { rights: new Set(events.map(rightOf)), refused: refused.map(rightOf) };
}

/** What these grants allow, in the same words. */
export function rightsIn(grants: readonly Grant[]): ReadonlySet<Right> {
  const all = grants.flatMap(({ kind, subresource, verbs }) =>
    verbs.map((verb) => right(verb, subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`, kind.group)),
  );
  return new Set(all);
}

function right(verb: string, resource: string, group: string): Right {
  return `${verb} ${group === "" ? resource : `${resource} of ${group}`}`;
}
