// Redeploying what an owner made: its pod template gets more memory and its controller does the rest, surge first, drain then.
// Server-side apply under our own name touches memory and nothing else, and everybody can see in managedFields that it was us.
//
// One trap: what a manager applied once and leaves out the next time is taken away, if nobody else owns it. A second raise that
// speaks of one container would strip another of the memory that an earlier raise gave it. So what we own already is said again.
import { type Container, type KubernetesObject, Pod, type Stored } from "@memhog/runtime";
import { monitorAnnotation, operatorName } from "../api/names.ts";
import type { Command } from "../model/plan.ts";
import type { AppName } from "../model/seen.ts";
import { alreadySo, changed, done } from "./live-pod.ts";
import { type ContainersOf, type Grown, type GrownContainers, growth, type Part } from "./more-memory.ts";
import type { Ending, Server } from "./outcome.ts";
import { type Templated, templatedKind, templateOf, templatePath } from "./template-kinds.ts";

type PatchTemplate = Extract<Command, { readonly do: "patchTemplate" }>;

export async function patchTemplate(server: Server, app: AppName, command: PatchTemplate): Promise<Ending> {
  const kind = templatedKind(app.kind);
  if (kind === undefined) return { ended: "refused", detail: `the template of a ${app.kind} is never edited` };
  const { namespace, name } = app;
  const owner = await server.find(kind, { namespace, name });
  const template = owner && templateOf(owner.spec);
  if (owner === undefined || template === undefined || owner.metadata.deletionTimestamp !== undefined)
    return { ended: "gone", detail: `${app.kind} ${name} is gone` };
  if (await isUnwanted(server, namespace, command, template.metadata?.annotations))
    return { ended: "stopped", detail: `${app.kind} ${name} is not monitored any more` };
  const more = growth(template.spec, command.changes, ["limits", "requests"]);
  if (more === undefined) return alreadySo(name);
  const { uid, resourceVersion } = owner.metadata;
  if (resourceVersion !== command.resourceVersion) return changed(name);
  const path = templatePath(kind);
  const spec = withOwned(more, template.spec, memoryOwned(owner, path));
  const object = { metadata: { namespace, name, uid, resourceVersion }, ...nested(path, spec) };
  await server.apply<Templated>(kind, object, { fieldManager: operatorName, force: true });
  return done(`template of ${app.kind} ${name} raised`);
}

/** The kill switch is an annotation, in the template or on the pod that gave reason to this; either stops us (promise E4). */
async function isUnwanted(
  server: Server,
  namespace: string,
  { intent }: PatchTemplate,
  ofTemplate: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const pod = await server.find(Pod, { namespace, name: intent.pod.name });
  const ofPod = pod?.metadata.uid === intent.pod.uid ? pod.metadata.annotations : undefined;
  return [ofTemplate, ofPod].some((annotations) => annotations?.[monitorAnnotation] === "false");
}

/** {a: {b: value}} from [a, b]. */
function nested(path: readonly string[], value: object): object {
  return path.reduceRight<object>((inner, key) => ({ [key]: inner }), value);
}

type Lists = keyof ContainersOf;
const lists: readonly Lists[] = ["containers", "initContainers"];
const parts: readonly Part[] = ["limits", "requests"];

type Owns = (list: Lists, container: string, part: Part) => boolean;

/** What of the memory in the template was applied under our name, by managedFields. */
function memoryOwned({ metadata }: Stored<KubernetesObject>, path: readonly string[]): Owns {
  const entries = (metadata.managedFields ?? []) as readonly Readonly<Record<string, unknown>>[];
  const ours = entries.find(({ manager, operation }) => manager === operatorName && operation === "Apply")?.fieldsV1;
  return (list, container, part) => {
    const key = `k:${JSON.stringify({ name: container })}`;
    const steps = [...path.map((step) => `f:${step}`), `f:${list}`, key, "f:resources", `f:${part}`, "f:memory"];
    return steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], ours) !== undefined;
  };
}

function withOwned(more: GrownContainers, now: ContainersOf, owns: Owns): GrownContainers {
  const filled = lists.flatMap((list) => {
    const said = (now[list] ?? []).flatMap((container) =>
      sayAgain(
        container,
        more[list]?.find(({ name }) => name === container.name),
        (part) => owns(list, container.name, part),
      ),
    );
    return said.length === 0 ? [] : [[list, said] as const];
  });
  return Object.fromEntries(filled);
}

function sayAgain({ name, resources = {} }: Container, more: Grown | undefined, owns: (part: Part) => boolean): readonly Grown[] {
  const said = parts.flatMap((part) => {
    const now = owns(part) ? resources[part]?.memory : undefined;
    const memory = more?.resources[part]?.memory ?? now;
    return memory === undefined ? [] : [[part, { memory }] as const];
  });
  return said.length === 0 ? [] : [{ name, resources: Object.fromEntries(said) }];
}
