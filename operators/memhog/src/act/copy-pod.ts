// Redeploying a bare pod: a copy with more memory and everything else as it was, so that it stays in its Services, finds its
// volumes, runs as the same account, and is looked after like the original.
//
// Only what the server or the node put there is left out, since it would be refused or be wrong for another pod:
//   metadata   all but labels, annotations and owners that are not controllers (a second pod of a controller is one too many)
//   status     what is, not what is wanted
//   spec       nodeName (the scheduler chooses again), the computed priority (priorityClassName stays), ephemeral containers
//              (they cannot be created), and the injected kube-api-access-… volume with its mounts (it is injected again)
// The name is in the intent, and the UID of the original on the copy: whoever comes after a crash finds it (promise C4).
import { AlreadyExistsError, type Container, Pod, type Stored, type Volume } from "@memhog/runtime";
import { appAnnotation, copyOfLabel } from "../api/names.ts";
import type { Command } from "../model/plan.ts";
import type { Change } from "../model/record.ts";
import { alreadySo, done, isEnding, livePod } from "./live-pod.ts";
import { grown, growth } from "./more-memory.ts";
import type { Ending, Server } from "./outcome.ts";

type CreateCopy = Extract<Command, { readonly do: "createCopy" }>;

export async function createCopy(server: Server, namespace: string, { intent, copy }: CreateCopy): Promise<Ending> {
  const original = await livePod(server, { namespace, name: intent.pod.name }, intent.pod.uid);
  if (isEnding(original)) return original;
  try {
    await server.create(Pod, copyOf(original, { name: copy, changes: intent.changes }));
    return done(`pod ${copy} created`);
  } catch (error) {
    if (!(error instanceof AlreadyExistsError)) throw error;
    const there = await server.find(Pod, { namespace, name: copy });
    if (there?.metadata.labels?.[copyOfLabel] === intent.pod.uid) return alreadySo(copy);
    return { ended: "refused", detail: `the name ${copy} is taken by a pod that is not a copy of ${intent.pod.name}` };
  }
}

export interface CopyOptions {
  readonly name: string;
  readonly changes: readonly Change[];
}

/** The bigger copy. Pure. */
export function copyOf(original: Stored<Pod>, { name, changes }: CopyOptions): Pod {
  const more = growth(original.spec, changes, ["limits", "requests"]);
  const { nodeName: _, priority: __, preemptionPolicy: ___, ephemeralContainers: ____, ...spec } = original.spec;
  const injected = (spec.volumes ?? []).filter(isTokenVolume).map((volume) => volume.name);
  const clean = (containers: readonly Container[]) => containers.map((container) => withoutMounts(container, injected));
  const { volumes, initContainers } = spec;
  return {
    metadata: metadataOf(original, name),
    spec: {
      ...spec,
      containers: grown(clean(spec.containers), more?.containers),
      ...(initContainers !== undefined && { initContainers: grown(clean(initContainers), more?.initContainers) }),
      ...(volumes !== undefined && { volumes: volumes.filter((volume) => !isTokenVolume(volume)) }),
    },
  };
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

function metadataOf({ metadata }: Stored<Pod>, name: string): NonNullable<Pod["metadata"]> {
  const { namespace, labels, annotations = {}, ownerReferences = [] } = metadata;
  // It speaks of a pod of another name; `kubectl apply` would compare with it.
  const { [lastApplied]: _, ...kept } = annotations;
  const owners = ownerReferences.filter(({ controller }) => controller !== true);
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { ...labels, [copyOfLabel]: metadata.uid },
    annotations: { ...kept, [appAnnotation]: annotations[appAnnotation] ?? metadata.name },
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
}

/** Injected at admission for every pod; a volume that somebody wrote has another name or another source. */
function isTokenVolume({ name, projected }: Volume): boolean {
  return name.startsWith("kube-api-access-") && (projected?.sources ?? []).some((source) => "serviceAccountToken" in source);
}

function withoutMounts(container: Container, volumes: readonly string[]): Container {
  if (container.volumeMounts === undefined) return container;
  return { ...container, volumeMounts: container.volumeMounts.filter(({ name }) => !volumes.includes(name)) };
}
