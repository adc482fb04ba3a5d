// Raises the memory in the pod template of an owner; its controller replaces the pods. Server-side apply with memhog's own field
// manager changes nothing but memory, and managedFields shows who did it.
//
// Server-side apply removes fields that a manager applied before and leaves out now. A raise of one container would remove the memory
// that an earlier raise gave another one, so the fields that memhog already owns are applied again.
import { Deployment, type Kind, type KubernetesObject, Pod, StatefulSet, type Stored } from "@memhog/runtime";
import { type Container, CronJob, DaemonSet, type PodTemplateSpec, ReplicaSet } from "@memhog/runtime/kinds";
import { monitorAnnotation, operatorName } from "../api/names.ts";
import type { AppKind, AppName } from "../model/observed-app.ts";
import type { Command } from "../model/plan.ts";
import { alreadySo, changed, done, type Ending, type Server } from "./outcome.ts";
import { type ContainersOf, type Grown, type GrownContainers, growth, type Part, restored } from "./resources.ts";

type EditTemplate = Extract<Command, { readonly do: "patchTemplate" | "restoreTemplate" }>;

export function patchTemplate(server: Server, app: AppName, command: EditTemplate): Promise<Ending> {
  return edit(server, app, command, (spec) => growth(spec, command.changes, ["limits", "requests"]));
}

/**
 * Undoes patchTemplate. The fields stay under memhog's name with their previous values: server-side apply would remove a field from the
 * template if its last manager left it out, and a client that applies the same values does not conflict.
 */
export function restoreTemplate(server: Server, app: AppName, command: EditTemplate): Promise<Ending> {
  return edit(server, app, command, (spec) => restored(spec, command.changes));
}

async function edit(
  server: Server,
  app: AppName,
  command: EditTemplate,
  next: (now: ContainersOf) => GrownContainers | undefined,
): Promise<Ending> {
  const kind = templatedKind(app.kind);
  if (kind === undefined) return { outcome: "refused", message: `the template of a ${app.kind} is never edited` };
  const { namespace, name } = app;
  const owner = await server.find(kind, { namespace, name });
  const template = owner && templateOf(owner.spec);
  if (owner === undefined || template === undefined || owner.metadata.deletionTimestamp !== undefined)
    return { outcome: "gone", message: `${app.kind} ${name} is gone` };
  if (await isUnwanted(server, namespace, command, template.metadata?.annotations))
    return { outcome: "stopped", message: `${app.kind} ${name} is no longer monitored` };
  const more = next(template.spec);
  if (more === undefined) return alreadySo(name);
  const { uid, resourceVersion } = owner.metadata;
  if (resourceVersion !== command.resourceVersion) return changed(name);
  const path = templatePath(kind);
  const spec = withOwned(more, template.spec, memoryOwned(owner, path));
  const object = { metadata: { namespace, name, uid, resourceVersion }, ...nested(path, spec) };
  await server.apply<Templated>(kind, object, { fieldManager: operatorName, force: true });
  return done(`template of ${app.kind} ${name} ${command.do === "patchTemplate" ? "raised" : "set back"}`);
}

/** The annotation "false" stops memhog, both in the template and on the pod that the raise is for (E4). */
async function isUnwanted(
  server: Server,
  namespace: string,
  { intent }: EditTemplate,
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

/** Whether memhog applied this field of the template, according to managedFields. */
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

// The owners whose pod template is edited, and the path to it.

/** As much of an owner as is read here. */
export interface Templated extends KubernetesObject {
  readonly spec: { readonly template?: PodTemplateSpec; readonly jobTemplate?: { readonly spec: Templated["spec"] } };
}

type TemplatedKind = Extract<AppKind, "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "CronJob">;

const kinds: Readonly<Record<TemplatedKind, Kind<Templated>>> = { Deployment, StatefulSet, DaemonSet, ReplicaSet, CronJob };

export const templatedKinds: readonly Kind<Templated>[] = Object.values(kinds);

/** Undefined for bare pods, Jobs and owners of other kinds: they have no template that is edited. */
export function templatedKind(kind: AppKind): Kind<Templated> | undefined {
  return kind in kinds ? kinds[kind as TemplatedKind] : undefined;
}

/** A CronJob has it one level deeper. */
export function templateOf({ jobTemplate, template }: Templated["spec"]): PodTemplateSpec | undefined {
  return jobTemplate === undefined ? template : templateOf(jobTemplate.spec);
}

/** The path of the pod spec in the object and in managedFields. */
function templatePath({ kind }: Pick<Kind, "kind">): readonly string[] {
  return kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template", "spec"] : ["spec", "template", "spec"];
}
