// What somebody really did, by the audit log of a real API server, beside what they may do: the difference is what they could do
// without. Only the server knows: what a program says about itself, its tests or its mocks, is what its author believed.
import { readFile } from "node:fs/promises";
import { type Grant, resourceName } from "../schema/access.ts";

export interface Audited {
  /** Rights that were given and never used: "patch pods/resize", "list deployments of apps". */
  readonly unused: readonly string[];
  /** What was asked for and not allowed. */
  readonly refused: readonly string[];
}

export interface AuditOptions {
  /** The file: one line of JSON per request. */
  readonly auditLog: string | undefined;
  /** "system:serviceaccount:home:gordon-operator" */
  readonly user: string;
  /** What the user may do. */
  readonly grants: readonly Grant[];
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly apiGroup?: string };
  readonly responseStatus?: { readonly code?: number };
}

export async function auditOf({ auditLog, user, grants }: AuditOptions): Promise<Audited> {
  if (auditLog === undefined)
    throw new TypeError("auditLog: expected the log of a cluster that was started with `audit`, found none");
  const lines = (await readFile(auditLog, "utf8")).split("\n").slice(0, -1); // the last may not be whole yet
  const events = lines.filter((line) => line.includes(user)).map((line) => JSON.parse(line) as AuditEvent);
  const theirs = events.filter((event) => event.user.username === user);
  const used = new Set(theirs.flatMap(rightsUsed));
  const refused = theirs.filter(({ responseStatus }) => responseStatus?.code === 403);
  return { unused: rightsIn(grants).filter((right) => !used.has(right)), refused: refused.flatMap(rightsUsed) };
}

function rightsUsed({ verb, objectRef, responseStatus }: AuditEvent): readonly string[] {
  if (objectRef === undefined) return []; // discovery, which everybody may
  const { resource, subresource, apiGroup = "" } = objectRef;
  // An apply that finds nothing creates, for which the server asks RBAC a second time; the log has one line.
  const verbs = verb === "patch" && responseStatus?.code === 201 ? ["patch", "create"] : [verb];
  return verbs.map((each) => right(each, subresource === undefined ? resource : `${resource}/${subresource}`, apiGroup));
}

function rightsIn(grants: readonly Grant[]): readonly string[] {
  const all = grants.flatMap((grant) => grant.verbs.map((verb) => right(verb, resourceName(grant), grant.kind.group)));
  return [...new Set(all)];
}

function right(verb: string, resource: string, group: string): string {
  return `${verb} ${group === "" ? resource : `${resource} of ${group}`}`;
}
