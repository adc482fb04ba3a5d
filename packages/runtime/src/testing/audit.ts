// Compares the requests of a user in the audit log of a real API server with the user's RBAC permissions, to find permissions
// that are not needed. The audit log shows what was requested; a program's own tests and mocks show only what its author expected.
import { readFile } from "node:fs/promises";
import { type Grant, resourceName } from "../schema/permissions.ts";

export interface Audited {
  /** Permissions that were granted and never used: "patch pods/resize", "list deployments of apps". */
  readonly unused: readonly string[];
  /** Requests that were rejected with 403. */
  readonly refused: readonly string[];
}

export interface AuditOptions {
  /** Path of the audit log: one JSON object per line. */
  readonly auditLog: string | undefined;
  /** "system:serviceaccount:home:gordon-operator" */
  readonly user: string;
  /** The user's permissions. */
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
  const lines = (await readFile(auditLog, "utf8")).split("\n").slice(0, -1); // the last line may be incomplete
  const events = lines.filter((line) => line.includes(user)).map((line) => JSON.parse(line) as AuditEvent);
  const theirs = events.filter((event) => event.user.username === user);
  const used = new Set(theirs.flatMap(rightsUsed));
  const refused = theirs.filter(({ responseStatus }) => responseStatus?.code === 403);
  return { unused: rightsIn(grants).filter((right) => !used.has(right)), refused: refused.flatMap(rightsUsed) };
}

function rightsUsed({ verb, objectRef, responseStatus }: AuditEvent): readonly string[] {
  if (objectRef === undefined) return []; // discovery, which every user may request
  const { resource, subresource, apiGroup = "" } = objectRef;
  // An apply that creates the object needs both permissions, but the log has one line.
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
