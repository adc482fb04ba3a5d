// Does what a plan says, one command after the other. No judgement is added here: a command names what it changes and what it
// rests on, each file of this folder knows one of them, and each may be done twice.
//
//     resize.ts          in place                         delete-pod.ts      the original after its copy, or a copy that failed
//     copy-pod.ts        the bigger copy of a bare pod    evict-pod.ts       one pod of an old template
//     patch-template.ts  what new pods are made from      live-pod.ts        the last look before any of these
//     more-memory.ts     changes → resources              outcome.ts         how it can end
//     remember.ts        the intent, before all of it     rights.ts          what may be done at all
import type { Command, Plan } from "../model/plan.ts";
import type { AppName } from "../model/seen.ts";
import { createCopy } from "./copy-pod.ts";
import { deletePod } from "./delete-pod.ts";
import { evictPod } from "./evict-pod.ts";
import { type CommandOutcome, type Ending, endingOf, type Server } from "./outcome.ts";
import { patchTemplate } from "./patch-template.ts";
import { resize } from "./resize.ts";

export interface CarryOutOptions {
  /** Asked before each command: why nothing more may be done, such as "paused" in the cache by now (promise E4). @default never */
  readonly halted?: () => string | undefined;
}

/**
 * How each command ended. Where there is no answer the rest is not even tried: an API server in trouble gets fewer calls, not
 * more (promise A2), and the next reconcile reads what became of it.
 */
export async function carryOut(
  ctx: { readonly client: Server },
  app: AppName,
  plan: Plan,
  { halted = () => undefined }: CarryOutOptions = {},
): Promise<readonly CommandOutcome[]> {
  const outcomes: CommandOutcome[] = [];
  for (const command of plan.commands) {
    const why = halted();
    const ending = why === undefined ? await attempt(ctx.client, app, command) : ({ ended: "stopped", detail: why } as const);
    outcomes.push({ command, ...ending });
    if (ending.ended === "unknown") break;
  }
  return outcomes;
}

async function attempt(client: Server, app: AppName, command: Command): Promise<Ending> {
  try {
    return await carryOutOne(client, app, command);
  } catch (error) {
    return endingOf(error);
  }
}

function carryOutOne(client: Server, app: AppName, command: Command): Promise<Ending> {
  const { namespace } = app;
  switch (command.do) {
    case "resize":
      return resize(client, namespace, command);
    case "createCopy":
      return createCopy(client, namespace, command);
    case "deletePod":
      return deletePod(client, namespace, command);
    case "patchTemplate":
      return patchTemplate(client, app, command);
    case "evict":
      return evictPod(client, namespace, command);
  }
}
