// Runs the commands of a plan, one after the other. The plan was stored before (persist-plan.ts), so a crash at any point is safe.
// No judgement is added here: a command names what it changes and what the decision was based on, and it is safe to run twice.
//
//     pods.ts         resize in place, create the larger copy, delete, evict
//     templates.ts    patch the pod template of an owner, and set it back
//     resources.ts    from the changes of an intent to the resources of containers
//     outcome.ts      the live read before each write, and how a command can end
import { allow, Pod } from "@memhog/runtime";
import { AppMemory } from "../api/app-memory.ts";
import type { AppName } from "../model/observed-app.ts";
import type { AppRecord, Command, Plan, Shrink } from "../model/plan.ts";
import { type CommandOutcome, type Ending, endingOf, type Server } from "./outcome.ts";
import { createCopy, deletePod, evictPod, resize, shrinkPod } from "./pods.ts";
import { patchTemplate, restoreTemplate, templatedKinds } from "./templates.ts";

interface ExecuteOptions {
  /** Called before each command; a string stops it, for example because an AppMonitor was paused meanwhile (E4). @default never */
  readonly halted?: () => string | undefined;
}

/**
 * Returns how each command ended. After a call without an answer the remaining commands are skipped: an API server in trouble
 * gets fewer calls, not more (A2), and the next reconcile reads what became of it.
 */
export async function execute(
  ctx: { readonly client: Server },
  app: AppName,
  plan: Plan,
  { halted = () => undefined }: ExecuteOptions = {},
): Promise<readonly CommandOutcome[]> {
  const outcomes: CommandOutcome[] = [];
  for (const command of plan.commands) {
    const why = halted();
    const ending = why === undefined ? await attempt(ctx.client, app, command) : ({ outcome: "stopped", message: why } as const);
    outcomes.push({ command, ...ending });
    if (ending.outcome === "unknown") break;
  }
  return outcomes;
}

/** Runs the shrink of a plan, if it has one, after its raises. Returns the record with its rejection, or the same record. */
export async function executeShrink(
  ctx: { readonly client: Server },
  { namespace }: AppName,
  { record, shrinks }: Plan,
  { halted = () => undefined }: ExecuteOptions = {},
): Promise<ShrinkOutcome | undefined> {
  const command = shrinks?.command;
  if (command === undefined || halted() !== undefined) return undefined;
  const ending = await shrinkPod(ctx.client, namespace, command).catch(endingOf);
  const isRefused = ending.outcome === "refused" || ending.outcome === "infeasible";
  const refused = (shrink: Shrink): Shrink => (shrink === command.shrink ? { ...shrink, state: "Refused" } : shrink);
  return { ...ending, record: isRefused ? { ...record, shrinks: record.shrinks.map(refused) } : record };
}

export type ShrinkOutcome = Ending & { readonly record: AppRecord };

async function attempt(client: Server, app: AppName, command: Command): Promise<Ending> {
  try {
    return await runCommand(client, app, command);
  } catch (error) {
    return endingOf(error);
  }
}

function runCommand(client: Server, app: AppName, command: Command): Promise<Ending> {
  const { namespace } = app;
  switch (command.do) {
    case "resize":
      return resize(client, namespace, command);
    case "createCopy":
      return createCopy(client, app, command);
    case "deletePod":
      return deletePod(client, namespace, command);
    case "patchTemplate":
      return patchTemplate(client, app, command);
    case "restoreTemplate":
      return restoreTemplate(client, app, command);
    case "evict":
      return evictPod(client, namespace, command);
  }
}

/**
 * What this folder may do, beside what the controller needs for its watches. The Role is generated from this list, and the client
 * that it is handed can do nothing else (S1).
 */
const inPlacePermissions = [
  allow(AppMemory, "create", "patch"), // persist-plan.ts; patch: the owners change when a bare pod is replaced by its copy
  allow(AppMemory, "update", { subresource: "status" }),
  allow(Pod, "get"),
  allow(Pod, "patch", { subresource: "resize" }), // pods.ts
] as const;
/** Not granted with --in-place-only. `create pods` alone allows to run any image as any service account of the namespace. */
const redeployPermissions = [
  allow(Pod, "create", "delete"), // pods.ts
  allow(Pod, "create", { subresource: "eviction" }),
  ...templatedKinds.map((kind) => allow(kind, "get", "patch")), // templates.ts
] as const;
export const writePermissions = [...inPlacePermissions, ...redeployPermissions] as const;
export const writePermissionsInPlace = writePermissions.filter((grant) => !redeployPermissions.some((other) => other === grant));
