// The cgroups of a node: each container, the pause container of each pod, each pod, and the levels above them.
//
//     /                                               the machine
//     /kubepods                                       all pods
//     /kubepods/burstable                             those of one class (Guaranteed ones are directly below kubepods)
//     /kubepods/burstable/pod<uid>                    a pod:         container="", pod, namespace
//     /kubepods/burstable/pod<uid>/<id>               its sandbox:   container="", image of the pause container
//     /kubepods/burstable/pod<uid>/<id>               a container:   container="main", image, name
import type { Environment } from "@memhog/runtime";
import type { Labels, Sample } from "../../prometheus/exposition.ts";
import { memoryLimitIn } from "../amounts.ts";
import type { ContainerRun } from "../container-run.ts";
import { canonicalImage } from "../images.ts";
import { type Instant, instantAt } from "../instant.ts";
import type { Life } from "../life.ts";
import type { NodeRun } from "../node-run.ts";
import type { PodRun, Sandbox } from "../pod-run.ts";
import { Cgroup } from "./cgroup.ts";

const pauseImage = "registry.k8s.io/pause:3.10";
/** What a pause container was seen to use. */
const pauseBytes = 360_448;

export interface CadvisorOptions {
  readonly environment: Environment;
  /** For how long a container that has ended is still shown, as it was last measured. */
  readonly deadSeriesMs: number;
}

/** A container that has ended and is still shown. */
interface Dead {
  readonly samples: readonly Sample[];
  readonly until: number;
}

export class Cadvisor {
  readonly #node: NodeRun;
  readonly #options: CadvisorOptions;
  readonly #bootedAt: Instant;
  readonly #capacity: number;
  readonly #levels: ReadonlyMap<string, Cgroup>;
  /** By what they are of: a pod, the sandbox of a pod, a life of a container. */
  readonly #cgroups = new WeakMap<PodRun | Sandbox | Life, Cgroup>();
  /** What was shown at the last look, for when it is gone at the next. */
  #shown: ReadonlyMap<Life, readonly Sample[]> = new Map();
  #dead: readonly Dead[] = [];

  constructor(node: NodeRun, options: CadvisorOptions) {
    const { clock } = options.environment;
    this.#node = node;
    this.#options = options;
    this.#bootedAt = instantAt(clock, clock.monotonic());
    this.#capacity = memoryLimitIn({ limits: node.spec.capacity });
    const ids = ["/", "/kubepods", "/kubepods/besteffort", "/kubepods/burstable"];
    this.#levels = new Map(ids.map((id) => [id, this.#cgroup(labelsOf({ id }), this.#bootedAt)]));
  }

  /** What would be read from /metrics/cadvisor at this moment. */
  samples(): readonly Sample[] {
    this.#node.advance();
    const { clock } = this.#options.environment;
    const now = instantAt(clock, clock.monotonic());
    const pods = [...this.#node.pods.values()].filter(({ sandbox }) => sandbox.kind === "ready");
    const shown = new Map(pods.flatMap((run) => this.#ofContainers(run, now)));
    this.#noteDead(shown, now.ms);
    return [
      ...this.#ofLevels(pods, now),
      ...pods.flatMap((run) => this.#ofPod(run, now)),
      ...[...shown.values()].flat(),
      ...this.#dead.flatMap(({ samples }) => samples),
    ];
  }

  #noteDead(shown: ReadonlyMap<Life, readonly Sample[]>, now: number): void {
    const { deadSeriesMs } = this.#options;
    const gone = [...this.#shown].filter(([life]) => deadSeriesMs > 0 && !shown.has(life));
    const fresh = gone.map(([, samples]) => ({ samples, until: now + deadSeriesMs }));
    this.#dead = [...this.#dead.filter(({ until }) => until > now), ...fresh];
    this.#shown = shown;
  }

  #ofLevels(pods: readonly PodRun[], now: Instant): readonly Sample[] {
    return [...this.#levels].flatMap(([id, cgroup]) => {
      const isBelow = (run: PodRun) => id === "/" || homeOf(run).startsWith(id);
      const usage = (ms: number) => pods.filter(isBelow).reduce((sum, run) => sum + usageOfPod(run, ms), 0);
      return cgroup.samples(now, usage, id === "/" || id === "/kubepods" ? this.#capacity : 0);
    });
  }

  #ofPod(run: PodRun, now: Instant): readonly Sample[] {
    const { sandbox } = run;
    if (sandbox.kind !== "ready") return [];
    const home = homeOf(run);
    const pod = this.#known(run, sandbox.since, () => labelsOf({ id: home, run }));
    const pause = this.#known(sandbox, sandbox.since, () =>
      labelsOf({ id: `${home}/${sandbox.id}`, run, image: pauseImage, name: sandbox.id }),
    );
    return [...pod.samples(now, (ms) => usageOfPod(run, ms), limitOfPod(run)), ...pause.samples(now, () => pauseBytes, 0)];
  }

  #ofContainers(run: PodRun, now: Instant): readonly (readonly [Life, readonly Sample[]])[] {
    return run.containers.flatMap(({ life, name: container, spec, memoryLimit }) => {
      if (life === undefined) return [];
      const cgroup = this.#known(life, life.startedAt, () => {
        const id = `${homeOf(run)}/${life.containerId}`;
        return labelsOf({ id, run, container, image: canonicalImage(spec.image ?? ""), name: life.containerId });
      });
      return [[life, cgroup.samples(now, (ms) => life.usage(ms), finite(memoryLimit))] as const];
    });
  }

  #known(of: PodRun | Sandbox | Life, since: Instant, labels: () => Labels): Cgroup {
    const cgroup = this.#cgroups.get(of) ?? this.#cgroup(labels(), since);
    this.#cgroups.set(of, cgroup);
    return cgroup;
  }

  #cgroup(labels: Labels, since: Instant): Cgroup {
    return new Cgroup({ labels, since, everyMs: 10_000 + Math.floor(5_000 * this.#options.environment.random()) });
  }
}

interface Described {
  readonly id: string;
  readonly run?: PodRun;
  readonly container?: string;
  readonly image?: string;
  readonly name?: string;
}

function labelsOf({ id, run, container = "", image = "", name = "" }: Described): Labels {
  const { namespace = "", name: pod = "" } = run?.pod.metadata ?? {};
  return { container, id, image, name, namespace, pod };
}

function homeOf({ pod, uid }: PodRun): string {
  const { qosClass = "BestEffort" } = pod.status ?? {};
  return `/kubepods/${qosClass === "Guaranteed" ? "" : `${qosClass.toLowerCase()}/`}pod${uid}`;
}

function usageOfPod({ containers, sandbox }: PodRun, ms: number): number {
  const lives = containers.flatMap(({ life }) => (life !== undefined && life.startedAt.ms <= ms ? [life] : []));
  return lives.reduce((sum, life) => sum + life.usage(ms), sandbox.kind === "ready" ? pauseBytes : 0);
}

function limitOfPod({ containers }: PodRun): number {
  const counted = containers.filter(({ role }: ContainerRun) => role !== "init");
  return finite(counted.reduce((sum, { memoryLimit }) => sum + memoryLimit, 0));
}

function finite(limit: number): number {
  return Number.isFinite(limit) ? limit : 0;
}
